// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def runs = new File(basedir, 'build.log').text.split('Scanning for projects')[1..-1]
assert runs.size() == 4
assert runs[0] =~ /Missing so far; kiln:generate checks again: .*model-mlf\.tar/
assert runs[0].contains('Board mps2-an385, toolchain ')
['sensor': 'mps2-an386', 'again': 'mps2-an385'].each { module, board ->
    def verify = new JsonSlurper().parse(new File(basedir, "$module/target/kiln/verify.json"))
    assert verify.bitExact && verify.board == board : module
    assert verify.cases.any { it.name ==~ /(.*\/)?vector_0/ } : module
}
// Both are built again, from what the repository has.
assert runs[2] =~ /Bit-exact/
def installed = new File(localRepositoryPath, 'com/example/models')
assert new File(installed, 'keywords/1.0.0/keywords-1.0.0.zip').length() > 0
assert new File(basedir, 'again/target/again-1.0.0-mlf.tar').bytes == new File(installed, 'sensor/1.0.0/sensor-1.0.0-mlf.tar').bytes
return true
