"""The table in a browser and over HTTP: routes, sessions, the page. Rules, solving and scoring stay in their rooms."""
