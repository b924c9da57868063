"""callsheet for CrewAI."""

from callsheet_crewai._silence import import_crewai

# Before anything else imports CrewAI: part of what it reads from the environment, it reads at import.
import_crewai()

from callsheet_crewai._adapter import CrewAIAdapter  # noqa: E402

__all__ = ["CrewAIAdapter"]
