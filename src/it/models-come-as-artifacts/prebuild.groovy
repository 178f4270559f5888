// SPDX-License-Identifier: Apache-2.0
new File(basedir, 'keywords/src/main/model/gesture.tflite').bytes = new File(quickstart, 'src/main/model/gesture.tflite').bytes
return true
