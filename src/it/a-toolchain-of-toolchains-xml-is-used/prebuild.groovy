// SPDX-License-Identifier: Apache-2.0
// An installation whose compiler is the one on the PATH, but leaves a note that it was asked.
def gcc = System.getenv('PATH').split(':').collect { new File(it, 'arm-none-eabi-gcc') }.find { it.canExecute() }
assert gcc != null : 'arm-none-eabi-gcc is not on the PATH'
def bin = new File(basedir, 'installation/bin')
bin.mkdirs()
def driver = new File(bin, 'arm-none-eabi-gcc')
driver.text = "#!/bin/sh\ntouch '${basedir}/was-asked'\nexec '${gcc}' \"\$@\"\n"
driver.executable = true
new File(basedir, 'toolchains.xml').text = """<toolchains>
  <toolchain>
    <type>gnu</type>
    <provides>
      <triple>arm-none-eabi</triple>
    </provides>
    <configuration>
      <installDir>${basedir}/installation</installDir>
    </configuration>
  </toolchain>
</toolchains>
"""
return true
