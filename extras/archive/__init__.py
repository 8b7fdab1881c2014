"""An archive of filings of any size: indexed filing by filing, searched exactly or by a server, and measured."""
