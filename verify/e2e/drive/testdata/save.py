"""Opens a document in LibreOffice, adds a cell, saves it under its name, and closes it: save.py DOCUMENT"""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException

document = sys.argv[1]
with tempfile.TemporaryDirectory() as profile:
    pipe = f"labshelf-{Path(profile).name}"
    office = subprocess.Popen([
        "soffice", "--headless", "--norestore", "--nologo", f"-env:UserInstallation=file://{profile}", f"--accept=pipe,name={pipe};urp;",
    ])
    try:
        context = uno.getComponentContext()
        resolver = context.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", context)
        for _ in range(1200):
            try:
                remote = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
                break
            except NoConnectException:
                time.sleep(0.1)
        desktop = remote.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", remote)
        table = desktop.loadComponentFromURL(uno.systemPathToFileUrl(document), "_blank", 0, (PropertyValue(Name="Hidden", Value=True),))
        table.Sheets.getByIndex(0).getCellByPosition(0, 1).String = "new"
        table.store()
        table.close(True)
        try:
            desktop.terminate()
        except Exception:  # the program exits before it answers
            pass
        office.wait(60)
    finally:
        office.kill()
