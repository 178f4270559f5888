// SPDX-License-Identifier: Apache-2.0
package io.kiln.draw;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.flatbuffers.Table;
import com.google.protobuf.InvalidProtocolBufferException;
import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.tensorflow.lite.schema.Model;
import org.tensorflow.lite.schema.Operator;
import org.tensorflow.lite.schema.OperatorCode;
import org.tensorflow.lite.schema.SubGraph;
import org.tensorflow.lite.schema.Tensor;
import org.tensorflow.lite.schema.TensorType;

/**
 * What files of models hold of each operator of their format that the function read from them does not tell: versions, options, operands
 * that are missing, constant, variable or of channels, and how lists of axes and sizes are written.
 */
final class FileCells {
    /** The most elements of a list of axes, sizes or paddings. */
    private static final int LIST = 16;

    /** Larger numbers of options are one class. */
    private static final int ENUM = 8;

    private final SortedMap<String, SortedSet<String>> cells = new TreeMap<>();

    /** The cells of TensorFlow Lite's files, by operator. */
    static SortedMap<String, SortedSet<String>> ofTflite(Stream<Bytes> files) {
        FileCells drawn = new FileCells();
        files.forEach(file -> drawn.add(Model.getRootAsModel(ByteBuffer.wrap(file.toArray()))));
        return drawn.cells;
    }

    /** The cells of ONNX files, by operator with its domain. */
    static SortedMap<String, SortedSet<String>> ofOnnx(Stream<Bytes> files) {
        FileCells drawn = new FileCells();
        files.forEach(file -> {
            try {
                drawn.add(ModelProto.parseFrom(file.toArray()));
            } catch (InvalidProtocolBufferException e) {
                throw new UncheckedIOException(e);
            }
        });
        return drawn.cells;
    }

    private SortedSet<String> of(String operator) {
        return cells.computeIfAbsent(operator, name -> new TreeSet<>());
    }

    private void add(Model model) {
        for (int g = 0; g < model.subgraphsLength(); g++) {
            SubGraph graph = model.subgraphs(g);
            for (int i = 0; i < graph.operatorsLength(); i++) {
                Operator operator = graph.operators(i);
                OperatorCode code = model.operatorCodes((int) operator.opcodeIndex());
                String custom = code.customCode();
                SortedSet<String> own = of(custom == null ? BuiltinOperator.text(code.builtinCode()) : custom);
                own.add("version " + code.version());
                own.add("inputs " + operator.inputsLength());
                IntStream.range(0, operator.inputsLength()).forEach(k -> operand(model, graph, operator, k, own));
                IntStream.range(0, operator.outputsLength())
                        .forEach(k -> own.add("result " + tensor(graph.tensors(operator.outputs(k)))));
                AnyOptions options = new AnyOptions();
                if (operator.builtinOptions(options) == null) {
                    own.add("no options");
                } else {
                    options.addTo(own);
                }
            }
        }
    }

    private static String tensor(Tensor tensor) {
        boolean isQuantized =
                tensor.quantization() != null && tensor.quantization().scaleLength() > 0;
        String scales = isQuantized ? tensor.quantization().scaleLength() > 1 ? " of channels" : " scaled" : "";
        return TensorType.name(tensor.type()).toLowerCase(Locale.ROOT)
                + (tensor.shapeLength() == 0 ? " scalar" : "")
                + scales
                + (tensor.isVariable() ? " variable" : "");
    }

    private static void operand(Model model, SubGraph graph, Operator operator, int place, SortedSet<String> own) {
        if (operator.inputs(place) < 0) {
            own.add("operand " + place + " missing");
            return;
        }
        Tensor tensor = graph.tensors(operator.inputs(place));
        ByteBuffer data = model.buffers((int) tensor.buffer()).dataAsByteBuffer();
        own.add((data == null ? "operand " : "constant ") + Math.min(place, LIST) + " " + tensor(tensor));
        boolean isList = tensor.type() == TensorType.INT32 || tensor.type() == TensorType.INT64;
        int bytes = tensor.type() == TensorType.INT32 ? Integer.BYTES : Long.BYTES;
        if (data != null && isList && data.remaining() <= LIST * bytes) {
            ByteBuffer list = data.slice().order(ByteOrder.LITTLE_ENDIAN);
            while (list.hasRemaining()) {
                own.add("number " + place + " "
                        + DrawnCells.classOf(bytes == Integer.BYTES ? list.getInt() : list.getLong()));
            }
        }
    }

    /** A table of options of any operator. */
    private static final class AnyOptions extends Table {
        /** Options by their numbers in the schema; what lies between one and the next is its value, or where its value is. */
        void addTo(SortedSet<String> own) {
            int fields = bb_pos - bb.getInt(bb_pos);
            int[] places = IntStream.range(2, bb.getShort(fields) / Short.BYTES)
                    .map(i -> bb.getShort(fields + Short.BYTES * i))
                    .toArray();
            int end = bb.getShort(fields + Short.BYTES);
            for (int i = 0; i < places.length; i++) {
                int from = places[i];
                int to =
                        IntStream.of(places).filter(place -> place > from).min().orElse(end);
                own.add("option " + i + " "
                        + (from == 0 ? "default" : number(bb, bb_pos + from, Math.min(to - from, Integer.BYTES))));
            }
        }
    }

    private static String number(ByteBuffer file, int at, int bytes) {
        int value = 0;
        for (int i = bytes - 1; i >= 0; i--) {
            value = (value << Byte.SIZE) | (file.get(at + i) & 0xFF);
        }
        return value >= 0 && value < ENUM ? String.valueOf(value) : DrawnCells.classOf(value);
    }

    private void add(ModelProto model) {
        Map<String, String> types = new HashMap<>();
        for (ValueInfoProto input : model.getGraph().getInputList()) {
            var type = input.getType().getTensorType();
            types.put(
                    input.getName(),
                    form("operand ", type.getElemType(), type.getShape().getDimCount()));
        }
        for (TensorProto constant : model.getGraph().getInitializerList()) {
            types.put(constant.getName(), form("constant ", constant.getDataType(), constant.getDimsCount()));
        }
        String version = model.getOpsetImportList().stream()
                .filter(set -> set.getDomain().isEmpty())
                .map(set -> "version " + set.getVersion())
                .collect(Collectors.joining());
        for (NodeProto node : model.getGraph().getNodeList()) {
            SortedSet<String> own = of((node.getDomain().isEmpty() ? "" : node.getDomain() + ".") + node.getOpType());
            own.add(version);
            own.add("inputs " + node.getInputCount());
            own.add("results " + node.getOutputCount());
            for (int i = 0; i < node.getInputCount(); i++) {
                String name = node.getInput(i);
                own.add(i + " " + (name.isEmpty() ? "missing" : types.getOrDefault(name, "computed")));
            }
            for (AttributeProto attribute : node.getAttributeList()) {
                values(attribute).forEach(value -> own.add(attribute.getName() + " " + value));
            }
        }
    }

    private static String form(String kind, int type, int rank) {
        return kind + TensorProto.DataType.forNumber(type).name().toLowerCase(Locale.ROOT) + " rank" + rank;
    }

    private static Stream<String> values(AttributeProto attribute) {
        return switch (attribute.getType()) {
            case INT -> Stream.of(DrawnCells.classOf(attribute.getI()));
            case INTS -> attribute.getIntsList().stream().map(DrawnCells::classOf);
            case FLOAT -> Stream.of(DrawnCells.classOf(attribute.getF()));
            case STRING -> Stream.of(attribute.getS().toStringUtf8());
            default -> Stream.of(attribute.getType().name().toLowerCase(Locale.ROOT));
        };
    }
}
