// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def kiln = new File(basedir, 'kiln-out/kiln')
def quantized = new JsonSlurper().parse(new File(kiln, 'quantized.json'))
assert quantized.samples == 200
assert quantized.model == 'digits.onnx'
assert quantized.accuracy.real >= 0.95
assert quantized.accuracy.real - quantized.accuracy.quantized <= 0.01
assert quantized.layers.every { it.precision == 'int8' }
assert quantized.layers.count { it.macs > 0 } == 3
assert quantized.notInTensorflowLite.isEmpty()
assert new File(kiln, 'quantized.tflite').length() > 0
assert new File(kiln, 'quantized.html').text.contains('Accuracy on labelled samples')

def verify = new JsonSlurper().parse(new File(kiln, 'verify.json'))
assert verify.board == 'mps2-an386' && verify.bitExact && verify.passed
def report = new JsonSlurper().parse(new File(kiln, 'report.json'))
assert report.operators[0].inputs[0].dtype == 'int8'

// The page about PyTorch shows lines of this build.
def page = new File(quickstart, '../../site/markdown/from-pytorch.md').text
def shown = page.substring(page.indexOf('Calibrating digits')).split('```')[0].readLines()
assert shown.size() == 7
def said = new File(basedir, 'build.log').text.replace("$basedir/", '')
shown.each { assert said.contains(it) : "from-pytorch.md shows another line: $it" }
return true
