// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def modules = new groovy.xml.XmlSlurper().parse(new File(basedir, 'pom.xml')).modules.module.collect { it.text() }
assert modules == ['boards', 'gloves']
assert new File(basedir, 'boards/src/main/boards/left-glove/board.yaml').text.contains('extends: mps2-an385')
assert new File(basedir, 'gloves/.gitignore').text.trim() == 'target/'
assert new File(basedir, 'gloves/README.md').text.startsWith('gloves\n')
assert new File(basedir, 'gloves/src/main/model/gesture.tflite').bytes == new File(quickstart, 'src/main/model/gesture.tflite').bytes

def log = new File(basedir, 'build.log').text
assert log.contains('Board left-glove: an empty application compiles and links')
assert log.contains('program on qemu-system-arm mps2-an386: 1 test, all passed')
assert new JsonSlurper().parse(new File(basedir, 'gloves/target/kiln/verify.json')).bitExact
// The list of boards for programs is a document of its own between Maven's lines.
def boards = new JsonSlurper().parseText((log =~ /(?ms)^\{\n  "boards".*?^\}/)[0]).boards
assert boards.find { it.id == 'stm32f405' }.profile.emulator == [kind: 'qemu', name: 'qemu-system-arm netduinoplus2']
return true
