// SPDX-License-Identifier: Apache-2.0
// The golden keyword-spotting model with its vectors where it is at hand, else the example model.
def models = new File(basedir, 'src/main/model')
models.mkdirs()
def kws = new File(golden, 'kws_ref_model/model.tflite')
def example = new File(basedir, '../quickstart/src/main/model').listFiles().find { it.name.endsWith('.tflite') }
new File(models, 'model.tflite').bytes = (kws.isFile() ? kws : example).bytes
def vectors = kws.isFile() ? kws.parentFile : new File(basedir, '../quickstart/src/test/vectors')
new File(basedir, 'test.properties').text = "kiln.verify.vectors=${vectors.canonicalPath}\n"
return true
