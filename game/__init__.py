"""Cards, ranks, rules, public trees, chance and the ACPC text formats: what every other room stands on."""
