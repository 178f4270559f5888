// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.node;

import io.kiln.base.Bytes;
import io.kiln.frontend.ExternalData;
import io.kiln.frontend.ReadLimits;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxGraph;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxValueInfo;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.frontend.onnx.reader.ModelReader;
import io.kiln.frontend.onnx.reader.ModelReader.ReadBudget;
import io.kiln.frontend.onnx.reader.TensorFiles;
import io.kiln.ir.type.Shape;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** A test of the ONNX project: a model, inputs and the answer. */
record NodeTest(Path folder) {
    /** Where Debian's package {@code libonnx-testdata} puts them. */
    static final Path DATA = Path.of("/usr/share/libonnx-testdata/data");

    /** A model needs an input; one whose result is constant does not use it. */
    private static final OnnxValueInfo UNUSED = new OnnxValueInfo(
            "unused_input",
            OnnxValueInfo.TENSOR,
            ElementType.FLOAT,
            Optional.of(List.of(new OnnxValueInfo.Dimension(Optional.of(1L), ""))));

    /** The tests of a part, in order. */
    static List<NodeTest> all(String part) {
        try (Stream<Path> folders = Files.list(DATA.resolve(part))) {
            return folders.filter(f -> Files.exists(f.resolve("model.onnx")))
                    .sorted()
                    .map(NodeTest::new)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String name() {
        return folder.getFileName().toString();
    }

    /** The model as in the file. */
    OnnxModel model() {
        Path file = folder.resolve("model.onnx");
        return ModelReader.read(
                bytes(file),
                name() + ".onnx",
                ExternalData.of(file, ReadLimits.STANDARD),
                new ReadBudget(name(), Integer.MAX_VALUE));
    }

    /** The model with the inputs that Kiln wants constant as constants of the test's values. */
    OnnxModel frozen() {
        OnnxModel model = model();
        Set<String> names = FrozenInputs.of(name(), model);
        OnnxGraph graph = model.graph();
        Map<String, OnnxTensor> initializers = new LinkedHashMap<>(graph.initializers());
        List<OnnxValueInfo> inputs = new ArrayList<>();
        for (int i = 0; i < graph.inputs().size(); i++) {
            OnnxValueInfo input = graph.inputs().get(i);
            if (names.contains(input.name())) {
                OnnxTensor tensor = tensor("input_" + i);
                initializers.put(
                        input.name(), new OnnxTensor(input.name(), tensor.type(), tensor.shape(), tensor.data()));
            } else {
                inputs.add(input);
            }
        }
        if (inputs.isEmpty()) {
            inputs.add(UNUSED);
        }
        OnnxGraph other =
                new OnnxGraph(graph.name(), graph.nodes(), initializers, inputs, graph.outputs(), graph.values());
        return new OnnxModel(model.file(), model.opsets(), other, model.functions());
    }

    /** The inputs of the frozen model. */
    List<OnnxTensor> inputs() {
        OnnxModel model = model();
        Set<String> names = FrozenInputs.of(name(), model);
        List<OnnxTensor> inputs = new ArrayList<>();
        for (int i = 0; i < model.graph().inputs().size(); i++) {
            if (!names.contains(model.graph().inputs().get(i).name())) {
                inputs.add(tensor("input_" + i));
            }
        }
        if (inputs.isEmpty()) {
            inputs.add(new OnnxTensor("", UNUSED.type(), Shape.of(1), Bytes.wrap(new byte[Float.BYTES])));
        }
        return inputs;
    }

    /** The answer. */
    List<OnnxTensor> outputs() {
        List<OnnxTensor> outputs = new ArrayList<>();
        for (int i = 0; i < model().graph().outputs().size(); i++) {
            outputs.add(tensor("output_" + i));
        }
        return outputs;
    }

    /** Some tests hold floats of 16 bits as unsigned integers with their bits. */
    private OnnxTensor tensor(String file) {
        byte[] content =
                bytes(folder.resolve("test_data_set_0").resolve(file + ".pb")).toArray();
        boolean isBrain = name().contains("BFLOAT16");
        return TensorFiles.read(content, name() + "/" + file, isBrain);
    }

    private static Bytes bytes(Path file) {
        try {
            return Bytes.wrap(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
