"""`foldwise configs`: the configs that come with foldwise."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from foldwise.cli.options import JsonOption
from foldwise.cli.support.output import emit, stdout, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldwise.solver.config_costs import ConfigCost


@dataclass(frozen=True, kw_only=True)
class ConfigsRequest:
    as_json: JsonOption = False


class ConfigsResult(TypedDict):
    configs: "Sequence[ConfigCost]"


def configs(request: ConfigsRequest) -> None:
    """The shipped configs: what each is for, when it stops and the least memory it needs.

    solve and abstract take their names from any folder: foldwise solve hunl-small -o DIR. What plays without one:
    default, the strategy in the box, and champion, the same with our best search (docs/champion.md).

    Example: foldwise configs
    """
    from foldwise.solver.config_costs import config_costs

    costs = config_costs()
    emit(ConfigsResult(configs=costs), request.as_json, lambda: _show(costs))


def _show(costs: "Sequence[ConfigCost]") -> None:
    table = text_table(("config", "sampler", "stops after", "memory", "for"), ("config", "sampler", "for"))
    for cost in costs:
        about = f" (about {cost.seconds / 60:,.0f} min)" if cost.seconds is not None and "nodes" in cost.stop else ""
        table.add_row(cost.name, cost.sampler, cost.stop + about, f"{cost.bytes / 1e9:,.1f} GB", cost.about)
    stdout.print(table)
