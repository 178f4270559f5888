// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

import ai.onnx.proto.OnnxMl.FunctionProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.frontend.ExternalData;
import io.kiln.frontend.onnx.model.OnnxFunction;
import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.model.Opsets;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads a model file: the message {@code ModelProto} of ONNX's schema. The file is untrusted. */
public final class ModelReader {
    /** Oldest and newest version of the file format that is read. */
    public static final int MIN_IR = 3;

    /** Newest version of the file format that is read. */
    public static final int MAX_IR = 14;

    private ModelReader() {}

    /**
     * Reads a model.
     *
     * @param content the file
     * @param fileName its name, for messages
     * @param external files with data of its tensors
     * @param budget counts the bytes of constants
     * @throws KilnException if it is not a valid model
     */
    public static OnnxModel read(Bytes content, String fileName, ExternalData external, ReadBudget budget) {
        if (content.size() == 0) {
            throw new KilnException(
                    Failure.MODEL.problem("the file is empty", fileName, "an ONNX model", "Export the model again"));
        }
        ModelProto model = parse(content, fileName);
        if (model.getIrVersion() < MIN_IR || model.getIrVersion() > MAX_IR) {
            throw new KilnException(Failure.MODEL.problem(
                    model.hasIrVersion()
                            ? "version " + model.getIrVersion() + " of ONNX's file format is not supported"
                            : "this is not an ONNX model",
                    fileName,
                    "version " + MIN_IR + " to " + MAX_IR + " (ir_version)",
                    model.getIrVersion() > MAX_IR
                            ? "Set model.ir_version = " + MAX_IR
                                    + " and save the model again, if it has nothing that is newer"
                            : "Export the model again"));
        }
        if (!model.hasGraph()) {
            throw new KilnException(
                    Failure.MODEL.problem("the model has no graph", fileName, "a graph", "Export the model again"));
        }
        GraphReader graphs = new GraphReader(fileName, new OnnxTensorReader(external, budget), budget);
        return new OnnxModel(
                fileName,
                opsets(model.getOpsetImportList()),
                graphs.graph(model.getGraph()),
                functions(model, graphs, fileName));
    }

    /**
     * The files that hold tensors of a model, wherever it has tensors. What reading refuses is left out.
     *
     * @param external where they may lie
     * @throws KilnException if it is not a valid model
     */
    public static List<Path> externalFiles(Bytes content, String fileName, ExternalData external) {
        Set<Path> files = new LinkedHashSet<>();
        for (TensorProto tensor : tensors(parse(content, fileName))) {
            if (tensor.getDataLocation() == TensorProto.DataLocation.EXTERNAL) {
                external.find(OnnxTensorReader.entries(tensor), fileName).ifPresent(files::add);
            }
        }
        return List.copyOf(files);
    }

    /** Every tensor in a message, wherever the format may have one: initializers, attributes, and those of graphs in attributes and of functions. */
    private static List<TensorProto> tensors(Message message) {
        List<TensorProto> found = new ArrayList<>();
        Deque<Message> open = new ArrayDeque<>(List.of(message));
        while (!open.isEmpty()) {
            Message next = open.remove();
            if (next instanceof TensorProto tensor) {
                found.add(tensor);
            } else {
                next.getAllFields().forEach((field, value) -> {
                    if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                        (field.isRepeated() ? (List<?>) value : List.of(value))
                                .forEach(each -> open.add((Message) each));
                    }
                });
            }
        }
        return found;
    }

    private static ModelProto parse(Bytes content, String fileName) {
        byte[] bytes = content.toArray();
        try {
            WireCheck.check(fileName, bytes, ModelProto.getDescriptor());
            return ModelProto.parseFrom(bytes);
        } catch (IOException e) {
            throw invalid(fileName, e);
        }
    }

    private static KilnException invalid(String fileName, IOException cause) {
        return new KilnException(
                Failure.MODEL.problem(
                        "this is not an ONNX model, or a damaged one",
                        fileName,
                        "a protobuf message of type onnx.ModelProto",
                        "Export the model again"),
                cause);
    }

    private static Opsets opsets(List<OperatorSetIdProto> imports) {
        Map<String, Integer> versions = new HashMap<>();
        for (OperatorSetIdProto opset : imports) {
            int version = (int) Math.max(0, Math.min(opset.getVersion(), Integer.MAX_VALUE));
            versions.merge(Opsets.domain(opset.getDomain()), version, Math::max);
        }
        return new Opsets(versions);
    }

    private static List<OnnxFunction> functions(ModelProto model, GraphReader graphs, String file) {
        List<OnnxFunction> functions = new ArrayList<>();
        for (FunctionProto function : model.getFunctionsList()) {
            functions.add(new OnnxFunction(
                    Opsets.domain(function.getDomain()),
                    GraphReader.overloaded(function.getName(), function.getOverload()),
                    function.getInputList(),
                    function.getOutputList(),
                    graphs.attributes(function.getAttributeProtoList(), "function " + function.getName()),
                    NodeOrder.sorted(graphs.nodes(function.getNodeList()), file),
                    opsets(function.getOpsetImportList())));
        }
        return functions;
    }
}
