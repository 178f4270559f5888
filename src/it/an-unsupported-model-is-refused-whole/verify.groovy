// SPDX-License-Identifier: Apache-2.0
def log = new File(basedir, 'build.log').text
assert log.contains('unsupported.tflite')
// All of them in one message, each with its index.
assert log.contains('3 problems')
assert log.contains('operator #0 LSTM (`acceleration` int8 (1, 32, 1, 3)')
assert log.contains('operator #2 LSTM')
assert log.contains('operator #6 ONE_HOT (`logits` int8 (1, 4) -> `gesture` int8 (1, 4))')
assert !log.contains('internal error') && !log.contains('\tat io.kiln')
assert !new File(basedir, 'target/generated-sources/kiln').exists() : 'no partial output stays'
return true
