// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import com.google.flatbuffers.FlatBufferBuilder;
import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.Field;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.ModelTables.Buffer;
import io.kiln.frontend.tflite.schema.ModelTables.Model;
import io.kiln.frontend.tflite.schema.ModelTables.Operator;
import io.kiln.frontend.tflite.schema.ModelTables.OperatorCode;
import io.kiln.frontend.tflite.schema.ModelTables.QuantizationParameters;
import io.kiln.frontend.tflite.schema.ModelTables.SubGraph;
import io.kiln.frontend.tflite.schema.ModelTables.Tensor;
import io.kiln.frontend.tflite.schema.SchemaEnums.TfliteType;
import io.kiln.frontend.tflite.write.Emission.Options;
import io.kiln.ir.Quantization;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Lays a graph out as a file of TensorFlow Lite, schema version 3. */
final class TfliteFile {
    private static final String IDENTIFIER = "TFL3";
    private static final int SCHEMA_VERSION = 3;
    private static final int FIRST_SIZE = 1 << 16;
    private static final int DATA_ALIGNMENT = 16;

    /** Largest code that fits into the older field. */
    private static final int MAX_OLD_CODE = 127;

    /** More fields than any table has; trailing ones without a value take no space. */
    private static final int FIELDS = 12;

    private final FlatBufferBuilder file = new FlatBufferBuilder(FIRST_SIZE).forceDefaults(true);

    private record Code(BuiltinOperator code, int version, String custom) {}

    /** The bytes of a model with one graph. */
    static Bytes of(
            List<TensorEntry> tensors, List<OperatorEntry> operators, List<Integer> inputs, List<Integer> outputs) {
        return new TfliteFile().model(tensors, operators, inputs, outputs);
    }

    private Bytes model(
            List<TensorEntry> tensors, List<OperatorEntry> operators, List<Integer> inputs, List<Integer> outputs) {
        List<Integer> buffers = new ArrayList<>(List.of(buffer(Optional.empty())));
        List<Integer> tensorTables = new ArrayList<>();
        Map<Bytes, Integer> stored = new HashMap<>();
        for (TensorEntry tensor : tensors) {
            int index = tensor.data()
                    .map(data -> stored.computeIfAbsent(data, unseen -> {
                        buffers.add(buffer(tensor.data()));
                        return buffers.size() - 1;
                    }))
                    .orElse(0);
            tensorTables.add(tensor(tensor, index));
        }
        Map<Code, Integer> codes = new LinkedHashMap<>();
        List<Integer> operatorTables = new ArrayList<>();
        for (OperatorEntry operator : operators) {
            Code code = new Code(operator.code(), operator.version(), operator.custom());
            int index = codes.computeIfAbsent(code, c -> codes.size());
            operatorTables.add(operator(operator, index));
        }
        int graph = graph(offsets(tensorTables), offsets(operatorTables), ints(inputs), ints(outputs));
        int graphs = offsets(List.of(graph));
        int codeTables = offsets(codes.keySet().stream().map(this::code).toList());
        int bufferTables = offsets(buffers);
        file.startTable(FIELDS);
        file.addInt(Model.VERSION.number(), SCHEMA_VERSION, 0);
        file.addOffset(Model.OPERATOR_CODES.number(), codeTables, 0);
        file.addOffset(Model.SUBGRAPHS.number(), graphs, 0);
        file.addOffset(Model.BUFFERS.number(), bufferTables, 0);
        file.finish(file.endTable(), IDENTIFIER);
        return Bytes.wrap(file.sizedByteArray());
    }

    private int graph(int tensors, int operators, int inputs, int outputs) {
        file.startTable(FIELDS);
        file.addOffset(SubGraph.TENSORS.number(), tensors, 0);
        file.addOffset(SubGraph.INPUTS.number(), inputs, 0);
        file.addOffset(SubGraph.OUTPUTS.number(), outputs, 0);
        file.addOffset(SubGraph.OPERATORS.number(), operators, 0);
        return file.endTable();
    }

    private int buffer(Optional<Bytes> data) {
        int vector = data.map(this::bytes).orElse(0);
        file.startTable(FIELDS);
        data.ifPresent(bytes -> file.addOffset(Buffer.DATA.number(), vector, 0));
        return file.endTable();
    }

    private int bytes(Bytes bytes) {
        file.startVector(1, bytes.size(), DATA_ALIGNMENT);
        ByteBuffer buffer = bytes.buffer();
        for (int i = bytes.size() - 1; i >= 0; i--) {
            file.addByte(buffer.get(i));
        }
        return file.endVector();
    }

    private int tensor(TensorEntry tensor, int buffer) {
        int name = file.createString(tensor.name());
        int shape = ints(tensor.type().shape().dims());
        int scaling = tensor.scaling().map(this::scaling).orElse(0);
        file.startTable(FIELDS);
        file.addOffset(Tensor.SHAPE.number(), shape, 0);
        file.addByte(
                Tensor.TYPE.number(),
                (byte) TfliteType.valueOf(tensor.type().dtype().name()).code(),
                0);
        file.addInt(Tensor.BUFFER.number(), buffer, 0);
        file.addOffset(Tensor.NAME.number(), name, 0);
        if (tensor.isVariable()) {
            file.addBoolean(Tensor.IS_VARIABLE.number(), true, false);
        }
        tensor.scaling().ifPresent(s -> file.addOffset(Tensor.QUANTIZATION.number(), scaling, 0));
        return file.endTable();
    }

    private int scaling(TensorEntry.Scaling scaling) {
        List<Float> scales = scaling.scales();
        file.startVector(Float.BYTES, scales.size(), Float.BYTES);
        for (int i = scales.size() - 1; i >= 0; i--) {
            file.addFloat(scales.get(i));
        }
        int scaleVector = file.endVector();
        file.startVector(Long.BYTES, scales.size(), Long.BYTES);
        for (int i = 0; i < scales.size(); i++) {
            file.addLong(scaling.zeroPoint());
        }
        int zeroPoints = file.endVector();
        file.startTable(FIELDS);
        file.addOffset(QuantizationParameters.SCALE.number(), scaleVector, 0);
        file.addOffset(QuantizationParameters.ZERO_POINT.number(), zeroPoints, 0);
        file.addInt(QuantizationParameters.QUANTIZED_DIMENSION.number(), scaling.dimension(), 0);
        return file.endTable();
    }

    private int code(Code code) {
        int custom = code.custom().isEmpty() ? 0 : file.createString(code.custom());
        file.startTable(FIELDS);
        file.addByte(
                OperatorCode.DEPRECATED_BUILTIN_CODE.number(),
                (byte) Math.min(MAX_OLD_CODE, code.code().code()),
                0);
        if (!code.custom().isEmpty()) {
            file.addOffset(OperatorCode.CUSTOM_CODE.number(), custom, 0);
        }
        file.addInt(OperatorCode.VERSION.number(), code.version(), 1);
        file.addInt(OperatorCode.BUILTIN_CODE.number(), code.code().code(), 0);
        return file.endTable();
    }

    private int operator(OperatorEntry operator, int code) {
        int inputs = ints(operator.inputs());
        int outputs = ints(operator.outputs());
        int intermediates = operator.intermediates().isEmpty() ? 0 : ints(operator.intermediates());
        boolean hasOptions = operator.options().type().code() != 0;
        int options = hasOptions ? options(operator.options()) : 0;
        file.startTable(FIELDS);
        file.addInt(Operator.OPCODE_INDEX.number(), code, 0);
        file.addOffset(Operator.INPUTS.number(), inputs, 0);
        file.addOffset(Operator.OUTPUTS.number(), outputs, 0);
        if (hasOptions) {
            file.addByte(
                    Operator.BUILTIN_OPTIONS_TYPE.number(),
                    (byte) operator.options().type().code(),
                    0);
            file.addOffset(Operator.BUILTIN_OPTIONS.number(), options, 0);
        }
        if (!operator.intermediates().isEmpty()) {
            file.addOffset(Operator.INTERMEDIATES.number(), intermediates, 0);
        }
        return file.endTable();
    }

    private int options(Options options) {
        file.startTable(FIELDS);
        options.values().forEach((field, value) -> {
            int number = field.number();
            if (field instanceof Field.UByte) {
                file.addByte(number, ((Integer) value).byteValue(), 0);
            } else if (field instanceof Field.Bool) {
                file.addBoolean(number, (Boolean) value, false);
            } else if (field instanceof Field.Real) {
                file.addFloat(number, (Float) value, 0);
            } else {
                file.addInt(number, (Integer) value, 0);
            }
        });
        return file.endTable();
    }

    private int ints(List<Integer> values) {
        file.startVector(Integer.BYTES, values.size(), Integer.BYTES);
        for (int i = values.size() - 1; i >= 0; i--) {
            file.addInt(values.get(i));
        }
        return file.endVector();
    }

    private int offsets(List<Integer> offsets) {
        file.startVector(Integer.BYTES, offsets.size(), Integer.BYTES);
        for (int i = offsets.size() - 1; i >= 0; i--) {
            file.addOffset(offsets.get(i));
        }
        return file.endVector();
    }

    /**
     * An operator of a file.
     *
     * @param custom name of a custom operator; empty for others
     * @param inputs tensors that it reads; -1 for one that is left out
     * @param intermediates tensors that only tell the kernel scales
     */
    record OperatorEntry(
            BuiltinOperator code,
            int version,
            String custom,
            List<Integer> inputs,
            List<Integer> outputs,
            Options options,
            List<Integer> intermediates) {
        OperatorEntry {
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
            intermediates = List.copyOf(intermediates);
        }

        OperatorEntry(
                BuiltinOperator code,
                int version,
                String custom,
                List<Integer> inputs,
                List<Integer> outputs,
                Options options) {
            this(code, version, custom, inputs, outputs, options, List.of());
        }
    }

    /**
     * A tensor of a file.
     *
     * @param scaling its quantization; empty if it has none
     * @param data its elements, if it is constant
     * @param isVariable whether it keeps its elements from one run to the next
     */
    record TensorEntry(
            String name, TensorType type, Optional<Scaling> scaling, Optional<Bytes> data, boolean isVariable) {
        TensorEntry(String name, TensorType type, Optional<Scaling> scaling, Optional<Bytes> data) {
            this(name, type, scaling, data, false);
        }

        /**
         * Scales along a dimension.
         *
         * @param scales one, or one per element of the dimension
         * @param zeroPoint of all
         */
        record Scaling(List<Float> scales, int zeroPoint, int dimension) {
            Scaling {
                scales = List.copyOf(scales);
            }

            /** One scale for all elements. */
            static Scaling of(Quantization quantization) {
                return new Scaling(List.of(quantization.scale()), quantization.zeroPoint(), 0);
            }
        }
    }
}
