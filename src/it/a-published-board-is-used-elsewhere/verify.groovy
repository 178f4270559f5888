// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper
import java.util.zip.ZipFile

def published = new File(basedir, 'repository/com/example/lab/lab-boards/1.0.0/lab-boards-1.0.0.zip')
new ZipFile(published).withCloseable { zip ->
    assert zip.entries().collect { it.name } == ['lab-emulator/board.yaml', 'lab-sensor/board.yaml']
}
['by-dependency': 'lab-emulator', 'by-coordinates': 'lab-sensor'].each { module, board ->
    def verify = new JsonSlurper().parse(new File(basedir, "$module/target/kiln/verify.json"))
    assert verify.board == board
    assert verify.bitExact
}
// The records of the layer were measured on another board with the same core.
def report = new JsonSlurper().parse(new File(basedir, 'by-dependency/target/kiln/report.json'))
assert report.operators.any { it.schedule.startsWith('depthwise_small') && it.reason == 'record: the best that was measured, 4,302 cycles a call' }
report = new JsonSlurper().parse(new File(basedir, 'by-coordinates/target/kiln/report.json'))
assert report.operators.any { it.codegen == 'cmsis-nn' && it.composite == 'cmsis-nn.qnn_conv2d' }
assert new File(basedir, 'by-coordinates/target/firmware/cmsis-nn/Include/arm_nnfunctions.h').exists()
assert new File(basedir, 'by-coordinates/target/generated-sources/kiln/metadata.json').text.contains('"version_spec": "7.')

def log = new File(basedir, 'build.log').text
assert log.contains('Board lab-sensor: an empty application compiles and links')
assert log =~ /lab-emulator.board\.yaml:5: refused in a profile from a repository: an emulator of its own/
assert log.contains('If you trust who wrote it: <trustBoard>com.example.lab:lab-boards:1.0.0:lab-emulator</trustBoard>')
assert log.contains('Write <trustBoard>com.example.lab:lab-boards:1.0.0:lab-emulator</trustBoard>')
return true
