// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def log = new File(basedir, 'build.log').text
assert log.contains("| hello from the project's own main")
assert log.contains('| the model ran')
def verify = new JsonSlurper().parse(new File(basedir, 'target/kiln/verify.json'))
assert verify.bitExact && verify.passed && verify.cases*.name.contains('own_program')
assert log.contains("Verified with the default application, not with the project's own program, which ran")

// The C project builds the same image without Maven.
def make = ['make', '-C', new File(basedir, 'target/firmware').path].execute()
def said = make.errorStream.text + make.inputStream.text
assert make.waitFor() == 0 : said
assert new File(basedir, 'target/firmware/build/firmware.elf').length() > 0
return true
