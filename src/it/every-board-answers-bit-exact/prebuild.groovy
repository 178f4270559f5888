// SPDX-License-Identifier: Apache-2.0
// The golden keyword-spotting model with its vectors where it is at hand, else the example model. The small board's RAM does
// not hold that one beside a stack: it gets hello_world.
def example = new File(quickstart, 'src/main/model/gesture.tflite')
def models = ['large': 'kws_ref_model', 'small': 'hello_world_int8'].collectEntries { key, name ->
    def folder = new File(golden, name)
    def model = new File(folder, 'model.tflite')
    model.isFile() ? [(key): [model, folder]] : [(key): [example, new File(quickstart, 'src/test/vectors')]]
}
def properties = new StringBuilder()
models.each { key, files ->
    properties << "${key}.model=${files[0].canonicalPath}\n${key}.vectors=${files[1].canonicalPath}\n"
}
new File(basedir, 'test.properties').text = properties.toString()
return true
