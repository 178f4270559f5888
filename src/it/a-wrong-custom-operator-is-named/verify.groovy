// SPDX-License-Identifier: Apache-2.0
def log = new File(basedir, 'build.log').text
// The sixth operator of ten, by index, actual and expected value.
assert log =~ /\(#5 CUSTOM Halve `x6`\) int8\[1, 16\]: the first wrong operator: x6\[15\] is 100 instead of -?\d+; 1 of 16 values are wrong/
assert !log.contains('was not compared')
assert !log.contains('internal error') && !log.contains('\tat io.kiln')
return true
