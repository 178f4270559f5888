// SPDX-License-Identifier: Apache-2.0
def log = new File(basedir, 'build.log').text
assert log =~ /Missing so far; kiln:generate checks again: .*gesture\.tflite/
assert log.contains('Board lab-sensor, toolchain ')
assert log.contains('Model default: ')
assert new File(basedir, 'firmware/target/kiln/objects').isDirectory()
assert !new File(basedir, 'boards/target/boards-1.0.0.zip').exists()
assert log =~ /none\.tflite: the model file does not exist; expected /
assert !log.contains('\tat io.kiln')
return true
