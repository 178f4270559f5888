// SPDX-License-Identifier: Apache-2.0
// The golden keyword-spotting model with its vectors, and hello_world for the small board, whose RAM does not hold the larger one
// beside a stack. A project without the shared folder beside it takes its own example model for all boards, and says so.
def example = [new File(quickstart, 'src/main/model/gesture.tflite'), new File(quickstart, 'src/test/vectors')]
def shared = new File(golden).parentFile
def models
if (new File(golden).isDirectory()) {
    models = ['large': 'kws_ref_model', 'small': 'hello_world_int8'].collectEntries { key, name ->
        def folder = new File(golden, name)
        def model = new File(folder, 'model.tflite')
        assert model.isFile() : "$model is missing"
        [(key): [model, folder]]
    }
} else {
    assert System.getenv('CI') != 'true' || !shared.isDirectory() : "The shared folder is beside the project, but $golden is missing."
    println "There are no golden models at $golden: all boards run the project's own example model, ${example[0].name}."
    models = ['large': example, 'small': example]
}
def properties = new StringBuilder()
models.each { key, files ->
    println "$key boards: ${files[0].canonicalPath}"
    properties << "${key}.model=${files[0].canonicalPath}\n${key}.vectors=${files[1].canonicalPath}\n"
}
new File(basedir, 'test.properties').text = properties.toString()
return true
