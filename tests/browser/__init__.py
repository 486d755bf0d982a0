"""The pages of the dashboard in Chromium, which is started once for all of them."""
