"""What is wrong with a command line, in one line: what click says of it, with the nearest word that would have done."""

from __future__ import annotations

import click

from kernelarena.errors import InputError, nearest


class Commands(click.Group):
    """A group of commands that knows which one was meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse what is no command, with the nearest ones."""
        name = args[0]
        if not ctx.resilient_parsing and not name.startswith("-") and self.get_command(ctx, name) is None:
            raise InputError(f"{_place(ctx)}no such command '{name}'; {nearest(name, self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


def explain(error: click.ClickException) -> str:
    """Return what is wrong, and where help is."""
    context = getattr(error, "ctx", None)
    help_ = f"; see {context.command_path} --help" if context is not None else ""
    if isinstance(error, click.NoSuchOption):
        known = (
            [] if context is None else [name for each in context.command.params for name in each.opts if name[0] == "-"]
        )
        hint = nearest(error.option_name, known) if known else "it takes none"
        return f"{_place(context)}no such option '{error.option_name}'; {hint}"
    if isinstance(error, click.MissingParameter):
        return f"{_place(context)}{_name(error)} is missing{help_}"
    if isinstance(error, click.BadParameter):
        return f"{_place(context)}{_name(error)}: {error.message.rstrip('.')}{help_}"
    message = error.format_message().rstrip(".")
    return f"{_place(context)}{message[:1].lower()}{message[1:]}{help_}"


def _place(context: click.Context | None) -> str:
    """``platforms show: ``; nothing for ``kab-mc`` itself."""
    words = context.command_path.split()[1:] if context is not None else []
    return f"{' '.join(words)}: " if words else ""


def _name(error: click.BadParameter) -> str:
    if isinstance(error.param, click.Option):
        return error.param.opts[0]
    return error.param.human_readable_name if error.param is not None else str(error.param_hint or "")
