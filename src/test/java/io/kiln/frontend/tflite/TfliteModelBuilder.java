// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import com.google.flatbuffers.FlatBufferBuilder;
import io.kiln.base.Bytes;
import io.kiln.ir.Function;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.tensorflow.lite.schema.Buffer;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.Metadata;
import org.tensorflow.lite.schema.Model;
import org.tensorflow.lite.schema.Operator;
import org.tensorflow.lite.schema.OperatorCode;
import org.tensorflow.lite.schema.QuantizationParameters;
import org.tensorflow.lite.schema.SignatureDef;
import org.tensorflow.lite.schema.SubGraph;
import org.tensorflow.lite.schema.Tensor;

/** Writes TFLite models for tests and for the shipped example; the same calls give the same bytes. */
public final class TfliteModelBuilder {
    private record Code(int builtin, int version, String custom) {}

    private record OperatorSpec(
            int code, List<Integer> inputs, List<Integer> outputs, Options options, Bytes customOptions) {}

    private static final class Subgraph {
        private final List<TensorSpec> tensors = new ArrayList<>();
        private final List<OperatorSpec> operators = new ArrayList<>();
        private final Map<Integer, int[]> signatures = new HashMap<>();
        private final Map<Integer, int[]> intermediates = new HashMap<>();
        private final Map<Integer, int[]> blocks = new HashMap<>();
        private String key = "";
        private int[] inputs = {};
        private int[] outputs = {};

        private Stream<TensorSpec> constants() {
            return tensors.stream().filter(TensorSpec::isConstant);
        }
    }

    private final Map<Code, Integer> codes = new LinkedHashMap<>();
    private final List<Subgraph> subgraphs = new ArrayList<>(List.of(new Subgraph()));
    private int at;
    private long schemaVersion = 3;
    private Optional<External> external = Optional.empty();
    private final Map<String, Bytes> metadata = new LinkedHashMap<>();

    /**
     * Data of a constant in another file.
     *
     * @param tensor its index in the first subgraph
     */
    private record External(int tensor, String file, long offset, long length) {
        private static final int ID = Integer.MIN_VALUE;
    }

    /** Says that a tensor of the first subgraph has its data in a file beside the model. */
    public TfliteModelBuilder external(int tensor, String file, long offset, long length) {
        external = Optional.of(new External(tensor, file, offset, length));
        return this;
    }

    /** Leaves bytes in the file under a name, as tools do. */
    public TfliteModelBuilder metadata(String name, Bytes content) {
        metadata.put(name, content);
        return this;
    }

    /** How many tensors there are. */
    public int tensors() {
        return current().tensors.size();
    }

    private Subgraph current() {
        return subgraphs.get(at);
    }

    /** What is added from here on belongs to a further subgraph; gives its index, by which operators such as IF name it. */
    public int nextSubgraph() {
        subgraphs.add(new Subgraph());
        at = subgraphs.size() - 1;
        return at;
    }

    /** What is added from here on belongs to the first subgraph again. */
    public TfliteModelBuilder backToMain() {
        at = 0;
        return this;
    }

    /** Gives the subgraph a signature. */
    public TfliteModelBuilder key(String key) {
        current().key = key;
        return this;
    }

    /** Says of a tensor that another one has a scale for each of its blocks. */
    public TfliteModelBuilder blockwise(int tensor, int scales, int size) {
        current().blocks.put(tensor, new int[] {scales, size});
        return this;
    }

    /** Adds a tensor and returns its index. */
    public int tensor(TensorSpec tensor) {
        current().tensors.add(tensor);
        return current().tensors.size() - 1;
    }

    /** Gives a tensor another shape. */
    public void reshape(int tensor, List<Integer> shape) {
        current().tensors.set(tensor, current().tensors.get(tensor).withShape(shape));
    }

    /** States a tensor's shape with -1 for what may have any size. */
    public TfliteModelBuilder signature(int tensor, int... dims) {
        current().signatures.put(tensor, dims);
        return this;
    }

    public TfliteModelBuilder operator(int builtin, int version, Options options, int[] in, int... out) {
        return operator(new Code(builtin, version, ""), options, Bytes.wrap(new byte[0]), in, out);
    }

    public TfliteModelBuilder custom(String name, int[] in, int... out) {
        return custom(name, Bytes.wrap(new byte[0]), in, out);
    }

    /** A custom operator; its options are, as a rule, a FlexBuffer. */
    public TfliteModelBuilder custom(String name, Bytes customOptions, int[] in, int... out) {
        return operator(new Code(BuiltinOperator.CUSTOM, 1, name), Options.none(), customOptions, in, out);
    }

    private TfliteModelBuilder operator(Code code, Options options, Bytes customOptions, int[] in, int... out) {
        codes.putIfAbsent(code, codes.size());
        current()
                .operators
                .add(new OperatorSpec(
                        codes.get(code),
                        Arrays.stream(in).boxed().toList(),
                        Arrays.stream(out).boxed().toList(),
                        options,
                        customOptions));
        return this;
    }

    /** Tensors of the operator added last that only tell its kernel scales. */
    public TfliteModelBuilder intermediates(int... tensors) {
        current().intermediates.put(current().operators.size() - 1, tensors);
        return this;
    }

    public TfliteModelBuilder inputs(int... indices) {
        current().inputs = indices;
        return this;
    }

    public TfliteModelBuilder outputs(int... indices) {
        current().outputs = indices;
        return this;
    }

    public TfliteModelBuilder schemaVersion(long version) {
        schemaVersion = version;
        return this;
    }

    /** What the frontend makes of the model. */
    public Function read() {
        return read("default");
    }

    /** The model as a function of that name. */
    public Function read(String name) {
        return TfliteFrontend.read(Bytes.wrap(build()), "test.tflite", name);
    }

    public byte[] build() {
        FlatBufferBuilder b = new FlatBufferBuilder(1024);
        int buffers = Model.createBuffersVector(b, writeBuffers(b));
        int[] graphs = new int[subgraphs.size()];
        int firstBuffer = 1;
        for (int i = 0; i < graphs.length; i++) {
            graphs[i] = writeSubgraph(b, subgraphs.get(i), firstBuffer);
            firstBuffer += (int) subgraphs.get(i).constants().count();
        }
        int graphVector = Model.createSubgraphsVector(b, graphs);
        int codeVector = Model.createOperatorCodesVector(b, writeCodes(b));
        int signatures = writeSignatures(b);
        int metadataVector = writeMetadata(b, firstBuffer);
        int description = b.createString("kiln");
        if (external.isPresent()) {
            Model.finishModelBuffer(b, withExternal(b, external.orElseThrow(), codeVector, graphVector, buffers));
            return b.sizedByteArray();
        }
        Model.finishModelBuffer(
                b,
                Model.createModel(
                        b,
                        schemaVersion,
                        codeVector,
                        graphVector,
                        description,
                        buffers,
                        0,
                        metadataVector,
                        signatures));
        return b.sizedByteArray();
    }

    private int writeSignatures(FlatBufferBuilder b) {
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < subgraphs.size(); i++) {
            if (!subgraphs.get(i).key.isEmpty()) {
                int key = b.createString(subgraphs.get(i).key);
                all.add(SignatureDef.createSignatureDef(b, 0, 0, key, i));
            }
        }
        return all.isEmpty() ? 0 : Model.createSignatureDefsVector(b, toArray(all));
    }

    /** @param firstBuffer index of the buffer behind those of constants */
    private int writeMetadata(FlatBufferBuilder b, int firstBuffer) {
        List<Integer> all = new ArrayList<>();
        for (String name : metadata.keySet()) {
            all.add(Metadata.createMetadata(b, b.createString(name), firstBuffer + all.size()));
        }
        return all.isEmpty() ? 0 : Model.createMetadataVector(b, toArray(all));
    }

    /** Buffer 0 is empty, as the schema demands; constants follow in the order of their tensors, then metadata. */
    private int[] writeBuffers(FlatBufferBuilder b) {
        List<Integer> offsets = new ArrayList<>();
        offsets.add(Buffer.createBuffer(b, 0));
        Stream<Bytes> constants =
                subgraphs.stream().flatMap(Subgraph::constants).map(TensorSpec::data);
        Stream.concat(constants, metadata.values().stream()).forEach(content -> {
            byte[] data = content.toArray();
            b.startVector(1, data.length, 16);
            for (int i = data.length - 1; i >= 0; i--) {
                b.addByte(data[i]);
            }
            offsets.add(Buffer.createBuffer(b, b.endVector()));
        });
        return toArray(offsets);
    }

    /** The schema's external buffers, which are newer than TensorFlow's accessors for Java. */
    private int withExternal(FlatBufferBuilder b, External data, int codeVector, int graphVector, int buffers) {
        int name = b.createString(data.file);
        b.startTable(1);
        b.addOffset(0, name, 0);
        int groups = b.createVectorOfTables(new int[] {b.endTable()});
        b.startTable(5);
        b.addInt(0, External.ID, 0);
        b.addLong(2, data.offset, 0);
        b.addLong(3, data.length, 0);
        int externals = b.createVectorOfTables(new int[] {b.endTable()});
        b.startTable(10);
        b.addInt(0, (int) schemaVersion, 0);
        b.addOffset(1, codeVector, 0);
        b.addOffset(2, graphVector, 0);
        b.addOffset(4, buffers, 0);
        b.addOffset(8, groups, 0);
        b.addOffset(9, externals, 0);
        return b.endTable();
    }

    private static int externalTensor(FlatBufferBuilder b, TensorSpec tensor) {
        int name = b.createString(tensor.name());
        int shape = Tensor.createShapeVector(b, toArray(tensor.shape()));
        b.startTable(11);
        b.addOffset(0, shape, 0);
        b.addByte(1, tensor.type(), 0);
        b.addOffset(3, name, 0);
        b.addInt(10, External.ID, 0);
        return b.endTable();
    }

    private int writeSubgraph(FlatBufferBuilder b, Subgraph graph, int firstBuffer) {
        List<Integer> tensorOffsets = new ArrayList<>();
        int buffer = firstBuffer;
        for (int i = 0; i < graph.tensors.size(); i++) {
            TensorSpec tensor = graph.tensors.get(i);
            int number = i;
            if (firstBuffer == 1
                    && external.filter(data -> data.tensor == number).isPresent()) {
                tensorOffsets.add(externalTensor(b, tensor));
                continue;
            }
            int[] signature = graph.signatures.getOrDefault(i, new int[0]);
            int[] blocks = graph.blocks.getOrDefault(i, new int[0]);
            int quantization = blocks.length > 0 ? blockwise(b, blocks) : quantization(b, tensor);
            tensorOffsets.add(writeTensor(b, tensor, tensor.isConstant() ? buffer++ : 0, signature, quantization));
        }
        List<Integer> operatorOffsets = new ArrayList<>();
        for (OperatorSpec operator : graph.operators) {
            int in = Operator.createInputsVector(b, toArray(operator.inputs));
            int out = Operator.createOutputsVector(b, toArray(operator.outputs));
            int options = operator.options.writer().applyAsInt(b);
            int custom = operator.customOptions.size() == 0
                    ? 0
                    : Operator.createCustomOptionsVector(b, operator.customOptions.toArray());
            int[] told = graph.intermediates.getOrDefault(operatorOffsets.size(), new int[0]);
            int intermediates = told.length == 0 ? 0 : Operator.createIntermediatesVector(b, told);
            if (operator.options.isLater()) {
                operatorOffsets.add(later(b, operator, in, out, options));
                continue;
            }
            operatorOffsets.add(Operator.createOperator(
                    b, operator.code, in, out, operator.options.type(), options, custom, (byte) 0, 0, intermediates));
        }
        int tensorVector = SubGraph.createTensorsVector(b, toArray(tensorOffsets));
        int inputVector = SubGraph.createInputsVector(b, graph.inputs);
        int outputVector = SubGraph.createOutputsVector(b, graph.outputs);
        int operatorVector = SubGraph.createOperatorsVector(b, toArray(operatorOffsets));
        return SubGraph.createSubGraph(b, tensorVector, inputVector, outputVector, operatorVector, 0);
    }

    /** TensorFlow's accessors for Java do not know the fields that the schema got later. */
    private static int later(FlatBufferBuilder b, OperatorSpec operator, int in, int out, int options) {
        b.startTable(13);
        b.addInt(0, operator.code, 0);
        b.addOffset(1, in, 0);
        b.addOffset(2, out, 0);
        b.addByte(11, operator.options.type(), 0);
        b.addOffset(12, options, 0);
        return b.endTable();
    }

    private static int quantization(FlatBufferBuilder b, TensorSpec tensor) {
        if (tensor.scales().isEmpty()) {
            return 0;
        }
        int scales = QuantizationParameters.createScaleVector(b, tensor.scaleArray());
        int zeroPoints = QuantizationParameters.createZeroPointVector(b, tensor.zeroPointArray());
        return QuantizationParameters.createQuantizationParameters(
                b, 0, 0, scales, zeroPoints, (byte) 0, 0, tensor.dimension());
    }

    /** The schema's BlockwiseQuantization, which is newer than TensorFlow's accessors for Java. */
    private static int blockwise(FlatBufferBuilder b, int... scalesAndSize) {
        b.startTable(3);
        b.addInt(0, scalesAndSize[0], 0);
        b.addInt(1, -1, 0);
        b.addInt(2, scalesAndSize[1], 0);
        int details = b.endTable();
        return QuantizationParameters.createQuantizationParameters(b, 0, 0, 0, 0, (byte) 2, details, 0);
    }

    private static int writeTensor(
            FlatBufferBuilder b, TensorSpec tensor, int buffer, int[] signature, int quantization) {
        int name = b.createString(tensor.name());
        int shape = Tensor.createShapeVector(b, toArray(tensor.shape()));
        int signatureVector = signature.length == 0 ? 0 : Tensor.createShapeSignatureVector(b, signature);
        return Tensor.createTensor(
                b, shape, tensor.type(), buffer, name, quantization, tensor.variable(), 0, signatureVector, true, 0);
    }

    private int[] writeCodes(FlatBufferBuilder b) {
        List<Integer> offsets = new ArrayList<>();
        for (Code code : codes.keySet()) {
            int custom = code.custom.isEmpty() ? 0 : b.createString(code.custom);
            offsets.add(OperatorCode.createOperatorCode(
                    b, (byte) Math.min(code.builtin, 127), custom, code.version, code.builtin));
        }
        return toArray(offsets);
    }

    private static int[] toArray(List<Integer> values) {
        return values.stream().mapToInt(Integer::intValue).toArray();
    }
}
