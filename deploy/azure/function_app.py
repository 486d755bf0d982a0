"""The door of the function app. Everything else is in the package."""

import azure.functions as func

from b24migrate.functions import AppCache, open_from_environment
from b24migrate.functions.triggers import blueprint

app = func.FunctionApp(http_auth_level=func.AuthLevel.FUNCTION)
app.register_functions(blueprint(AppCache(open_from_environment)))
