// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def kiln = new File(basedir, 'kiln-out/kiln')
def quantized = new JsonSlurper().parse(new File(kiln, 'quantized.json'))
assert quantized.accuracy.real >= 0.95

// From raw audio to probabilities, bit for bit.
def verify = new JsonSlurper().parse(new File(kiln, 'verify.json'))
assert verify.bitExact && verify.passed
def recordings = verify.cases.findAll { it.name ==~ 'words\\.audio/audio_[0-3]' }
assert recordings.size() == 4 && recordings.every { it.mismatches == 0 && it.outputs == 4 }

// The program heard the words; kiln:test read its console.
assert new File(kiln, 'TEST-kiln-test.xml').text.contains('hears')
assert new File(basedir, 'build.log').text.contains('Preprocessing of words: 4,096 samples at 8,000 Hz become 21 rows of 12 features')
return true
