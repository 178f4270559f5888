// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def out = new File(basedir, 'kiln-out')
['elf', 'bin', 'hex', 'map'].each { assert new File(out, "gesture.$it").length() > 0 }
assert new File(out, 'gesture-mlf.tar').length() > 0
assert new JsonSlurper().parse(new File(out, 'kiln/verify.json')).bitExact
assert new JsonSlurper().parse(new File(out, 'generated-sources/kiln/metadata.json')).version == 5
assert new File(out, 'libgesture.so').length() > 0
def made = ['make', 'check'].execute(null, new File(out, 'export/c/kiln_gesture'))
def said = new StringBuilder()
made.waitForProcessOutput(said, said)
assert said.toString().contains('PASS: 0 of 2 cases are wrong')
return true
