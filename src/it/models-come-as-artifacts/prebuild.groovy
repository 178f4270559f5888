// SPDX-License-Identifier: Apache-2.0
// The model's artifact has its vectors, too.
def model = new File(basedir, 'keywords/src/main/model')
new File(model, 'gesture.tflite').bytes = new File(quickstart, 'src/main/model/gesture.tflite').bytes
new File(model, 'vectors').mkdirs()
new File(quickstart, 'src/test/vectors').eachFile { new File(model, "vectors/${it.name}").bytes = it.bytes }
return true
