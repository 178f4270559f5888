// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.FunctionProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.ReadLimits;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Models that are wrong are refused with one clear message, and no file outside the model's folder is opened. */
class BadModelTest {
    private static final int OPSET = 13;

    @TempDir
    private Path folder;

    private static ModelBuilder relu() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(1, 4));
        model.node("Relu", List.of("x"), "y", Map.of());
        model.output("y", ElementType.FLOAT, List.of(1, 4));
        return model;
    }

    private static Function read(Bytes model) {
        return OnnxFrontend.read(model, "m.onnx", "m", InputShapes.NONE);
    }

    private static Bytes changed(Bytes model, Consumer<ModelProto.Builder> change) {
        try {
            ModelProto.Builder builder = ModelProto.parseFrom(model.toArray()).toBuilder();
            change.accept(builder);
            return Bytes.wrap(builder.build().toByteArray());
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static void refused(Bytes model, String... parts) {
        assertThatThrownBy(() -> read(model)).isInstanceOf(KilnException.class).hasMessageContainingAll(parts);
    }

    @Test
    void otherVersionsAreRefused() {
        Bytes model = relu().build();
        refused(changed(model, m -> m.setIrVersion(99)), "version 99 of ONNX's file format", "3 to 14");
        refused(
                changed(model, m -> m.getOpsetImportBuilder(0).setVersion(99)),
                "Relu of version 99 is not supported",
                "1 to 28");
        refused(Bytes.wrap(new byte[0]), "the file is empty");
        refused(Bytes.ofText("this is a text"), "not an ONNX model");
    }

    @Test
    void everyUnknownOperatorIsListedAtOnceWithAdvice() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(1, 4));
        model.node("Bernoulli", List.of("x"), "a", Map.of());
        model.node("Relu", List.of("a"), "b", Map.of());
        model.node("my.domain", "Magic", List.of("x"), "c", Map.of());
        model.output("b", ElementType.INT64, List.of(1, 4));
        refused(
                model.build(),
                "2 problems",
                "m.onnx: node #0 Bernoulli (x -> a): Bernoulli computes random numbers",
                "Make the random numbers an input",
                "node #2 my.domain.Magic (x -> c): my.domain.Magic is not supported");
    }

    @Test
    void cyclesAndMissingValuesAreRefused() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(1, 4));
        model.node("Add", List.of("x", "b"), "a", Map.of());
        model.node("Relu", List.of("a"), "b", Map.of());
        model.output("b", ElementType.FLOAT, List.of(1, 4));
        refused(model.build(), "2 nodes read each other's results in a circle: #0 Add reads #1 Relu reads #0");
        refused(
                changed(
                        relu().build(),
                        m -> m.getGraphBuilder().getOutputBuilder(0).setName("z")),
                "no node computes the output",
                "`z`");
    }

    @Test
    void aFunctionThatCallsItselfIsRefused() {
        Bytes model = changed(relu().build(), m -> {
            m.getGraphBuilder().getNodeBuilder(0).setOpType("F").setDomain("d");
            var function = m.addFunctionsBuilder()
                    .setName("F")
                    .setDomain("d")
                    .addInput("x")
                    .addOutput("y");
            function.addNodeBuilder()
                    .setOpType("F")
                    .setDomain("d")
                    .addInput("x")
                    .addOutput("y");
        });
        refused(model, "nested more than 16 deep");
    }

    @Test
    void aFunctionIsInlined() {
        Bytes model = changed(relu().build(), m -> {
            m.getGraphBuilder().getNodeBuilder(0).setOpType("F").setDomain("d");
            var function = m.addFunctionsBuilder()
                    .setName("F")
                    .setDomain("d")
                    .addInput("p")
                    .addOutput("q");
            function.addOpsetImportBuilder().setVersion(OPSET);
            function.addNodeBuilder().setOpType("Relu").addInput("p").addOutput("q");
        });
        assertThat(read(model).bindings().stream().map(Binding::op).toList())
                .isEqualTo(read(relu().build()).bindings().stream()
                        .map(Binding::op)
                        .toList());
    }

    @ParameterizedTest
    @CsvSource({
        "INT8, 3, 8, a constant has 8 bytes",
        "FLOAT, 2, 7, a constant has 7 bytes",
        "STRING, 1, 8, a constant has elements of type string",
        "COMPLEX64, 1, 8, a constant has elements of type complex64"
    })
    void constantsOfAWrongSizeOrTypeAreRefused(TensorProto.DataType type, long size, int bytes, String what) {
        Bytes model = changed(
                relu().build(),
                m -> m.getGraphBuilder()
                        .addInitializer(TensorProto.newBuilder()
                                .setName("w")
                                .setDataType(type.getNumber())
                                .addDims(size)
                                .setRawData(ByteString.copyFrom(new byte[bytes]))));
        refused(model, "initializer `w`", what);
    }

    @Test
    void absurdSizesAreRefused() {
        Bytes model = changed(
                relu().build(),
                m -> m.getGraphBuilder()
                        .addInitializer(TensorProto.newBuilder()
                                .setName("w")
                                .setDataType(TensorProto.DataType.FLOAT_VALUE)
                                .addAllDims(List.of(1L << 40, 1L << 40))));
        refused(model, "initializer `w`", "a constant has the dimensions");
        ModelBuilder wide = new ModelBuilder(OPSET);
        wide.input("x", ElementType.FLOAT, List.of(1 << 20, 1 << 20));
        wide.node("Relu", List.of("x"), "y", Map.of());
        wide.output("y", ElementType.FLOAT, List.of(1, 4));
        refused(wide.build(), "input `x`", "the input is Tensor[(1048576, 1048576), float32]");
    }

    @Test
    void openDimensionsAreGivenBySizesOrRefused() {
        Bytes model = changed(
                relu().build(),
                m -> m.getGraphBuilder()
                        .getInputBuilder(0)
                        .getTypeBuilder()
                        .getTensorTypeBuilder()
                        .getShapeBuilder()
                        .getDimBuilder(1)
                        .setDimParam("length"));
        assertThatThrownBy(() -> read(model))
                .hasMessage("m.onnx: input `x`: dimension 1 of the input is open (`length`); expected a size."
                        + " Set kiln.inputShapes.");
        Function function = OnnxFrontend.read(model, "m.onnx", "m", InputShapes.parse("x:1,7"));
        assertThat(function.params().get(0).type().shape().dims()).containsExactly(1, 7);
    }

    /** A constant of 2 GiB, of which the file has nothing, takes no memory. */
    @ParameterizedTest
    @CsvSource({
        "536870000, 2147480000, has 0 elements",
        "536870911, 2147483644, takes 2147483644 bytes",
        "1073741824, 4294967296, takes 4294967296 bytes"
    })
    void dataThatIsNotThereTakesNoMemory(long elements, long bytes, String what) {
        TensorProto tensor = TensorProto.newBuilder()
                .setDataType(TensorProto.DataType.FLOAT_VALUE)
                .addDims(elements)
                .build();
        ReadLimits raised = new ReadLimits(OptionalLong.of(bytes), 0, Optional.empty());
        Bytes model = changed(relu().build(), m -> m.getGraphBuilder().addInitializer(tensor));
        Path file = folder.resolve("m.onnx");
        WholeFiles.write(file, model.toArray());
        assertThatThrownBy(() -> OnnxFrontend.read(file, "m", InputShapes.NONE, OnnxIo.MODEL, raised))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(what);
    }

    /** An open batch is 1. */
    @Test
    void anOpenBatchIsOne() {
        Bytes model = changed(
                relu().build(),
                m -> m.getGraphBuilder()
                        .getInputBuilder(0)
                        .getTypeBuilder()
                        .getTensorTypeBuilder()
                        .getShapeBuilder()
                        .getDimBuilder(0)
                        .setDimParam("batch"));
        assertThat(read(model).params().get(0).type().shape().dims()).containsExactly(1, 4);
    }

    private Path external(String location, int offset, int length) {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(1, 2));
        String weight = model.floats(false, 1, 2);
        model.node("Add", List.of("x", weight), "y", Map.of());
        model.output("y", ElementType.FLOAT, List.of(1, 2));
        Bytes changed = changed(model.build(), m -> {
            GraphProto.Builder graph = m.getGraphBuilder();
            graph.getInitializerBuilder(0)
                    .clearRawData()
                    .setDataLocation(TensorProto.DataLocation.EXTERNAL)
                    .addExternalData(entry("location", location))
                    .addExternalData(entry("offset", String.valueOf(offset)))
                    .addExternalData(entry("length", String.valueOf(length)));
        });
        Path file = folder.resolve("models").resolve("m.onnx");
        WholeFiles.write(file, changed.toArray());
        WholeFiles.write(folder.resolve("models").resolve("w.bin"), new byte[12]);
        WholeFiles.write(folder.resolve("models").resolve("deep").resolve("w.bin"), new byte[12]);
        WholeFiles.write(folder.resolve("secret.bin"), new byte[12]);
        return file;
    }

    private static StringStringEntryProto entry(String key, String value) {
        return StringStringEntryProto.newBuilder().setKey(key).setValue(value).build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"w.bin", "./w.bin"})
    void externalDataBesideTheModelIsRead(String location) {
        Function function = OnnxFrontend.read(external(location, 4, 8), "m", InputShapes.NONE);
        assertThat(function.bindings()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"w.bin", "deep/w.bin", "deep/./w.bin"})
    void externalDataInTheFolderThatTheUserNamesIsRead(String location) {
        Path file = external(location, 4, 8);
        assertThat(in(folder.resolve("models"), file).bindings()).hasSize(1);
        assertThatThrownBy(() -> in(folder, file))
                .isInstanceOf(KilnException.class)
                .hasMessageContainingAll("`" + location + "` does not exist", "kiln.onnx.data");
    }

    private static Function in(Path named, Path file) {
        ReadLimits limits = new ReadLimits(OptionalLong.empty(), 0, Optional.of(named));
        return OnnxFrontend.read(file, "m", InputShapes.NONE, OnnxIo.MODEL, limits);
    }

    @ParameterizedTest
    @ValueSource(strings = {"../secret.bin", "deep/../../secret.bin", "deep/.w.bin", ".ssh/w.bin", "/etc/hostname"})
    void theNamedFolderIsNotLeft(String location) {
        Path file = external(location, 4, 8);
        WholeFiles.write(folder.resolve("models/.ssh/w.bin"), new byte[12]);
        WholeFiles.write(folder.resolve("models/deep/.w.bin"), new byte[12]);
        assertThatThrownBy(() -> in(folder.resolve("models"), file))
                .isInstanceOf(KilnException.class)
                .hasMessageContainingAll("its external data lies at", "hidden names and links", "kiln.onnx.data");
    }

    @ParameterizedTest
    @CsvSource({
        "deep/w.bin, 4, 8, its external data lies at",
        ".ssh/w.bin, 4, 8, its external data lies at",
        ".netrc, 0, 8, its external data lies at",
        "../secret.bin, 4, 8, its external data lies at",
        "deep/../w.bin, 4, 8, its external data lies at",
        "/etc/hostname, 0, 8, its external data lies at",
        "deep, 0, 8, its external data lies at",
        "..\\secret.bin, 0, 8, its external data lies at",
        "'', 0, 8, its external data lies at",
        "none.bin, 0, 8, does not exist",
        "w.bin, 8, 8, has 12 bytes",
        "w.bin, 4, 4, its external data has 4 bytes"
    })
    void otherExternalDataIsRefused(String location, int offset, int length, String what) {
        Path file = external(location, offset, length);
        assertThatThrownBy(() -> OnnxFrontend.read(file, "m", InputShapes.NONE))
                .isInstanceOf(KilnException.class)
                .hasMessageContainingAll("initializer `c0`", what);
    }

    /** A build reads its inputs' bytes, also of tensors that are no initializers of the main graph. */
    @Test
    void externalDataOfSubgraphsAttributesAndFunctionsIsFound() {
        Path file = external("w.bin", 4, 8);
        Bytes changed = changed(Bytes.wrap(read(file)), m -> {
            TensorProto tensor = m.getGraphBuilder().getInitializer(0);
            m.getGraphBuilder()
                    .addNode(node("Constant", AttributeProto.newBuilder().setT(data(tensor, "attribute.bin"))))
                    .addNode(node("Constant", AttributeProto.newBuilder().setT(data(tensor, "../secret.bin"))))
                    .addNode(node(
                            "If",
                            AttributeProto.newBuilder()
                                    .setG(GraphProto.newBuilder()
                                            .addInitializer(data(tensor, "branch.bin"))
                                            .addNode(node(
                                                    "Constant",
                                                    AttributeProto.newBuilder().setT(data(tensor, "inner.bin")))))));
            m.addFunctions(FunctionProto.newBuilder()
                    .addNode(node("Constant", AttributeProto.newBuilder().setT(data(tensor, "function.bin")))));
        });
        WholeFiles.write(file, changed.toArray());
        List<String> names = List.of("w.bin", "attribute.bin", "branch.bin", "inner.bin", "function.bin");
        names.forEach(name -> WholeFiles.write(file.resolveSibling(name), new byte[12]));
        assertThat(OnnxFrontend.externalFiles(file, ReadLimits.STANDARD))
                .containsExactlyInAnyOrderElementsOf(
                        names.stream().map(name -> file.resolveSibling(name)).toList());
    }

    private static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static NodeProto node(String operator, AttributeProto.Builder attribute) {
        return NodeProto.newBuilder()
                .setOpType(operator)
                .addAttribute(attribute.setName("value"))
                .build();
    }

    private static TensorProto data(TensorProto tensor, String location) {
        return tensor.toBuilder()
                .setExternalData(0, entry("location", location))
                .build();
    }

    @Test
    void linksOutOfTheFolderAreNotFollowed() throws IOException {
        Path file = external("link.bin", 4, 8);
        Files.createSymbolicLink(file.resolveSibling("link.bin"), folder.resolve("secret.bin"));
        assertThatThrownBy(() -> OnnxFrontend.read(file, "m", InputShapes.NONE))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("its external data lies at `link.bin`");
        Path linked = external("door/secret.bin", 4, 8);
        Files.createSymbolicLink(linked.resolveSibling("door"), folder);
        assertThatThrownBy(() -> OnnxFrontend.read(linked, "m", InputShapes.NONE))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("its external data lies at `door/secret.bin`");
    }

    @Test
    void aShapeThatIsComputedIsRefusedWithAdvice() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(1, 4));
        model.input("s", ElementType.INT64, List.of(2));
        model.node("Reshape", List.of("x", "s"), "y", Map.of());
        model.output("y", ElementType.FLOAT, List.of(2, 2));
        refused(
                model.build(),
                "its input `s` (shape) is known only when the model runs",
                "Set kiln.inputValues for `s`");
    }
}
