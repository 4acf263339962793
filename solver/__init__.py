"""Counterfactual regret minimisation in the forms of the papers, best responses, checkpoints."""
