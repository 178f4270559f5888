// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.frontend.tflite.operator.OperatorRecord;
import io.kiln.frontend.tflite.operator.Subgraphs;
import io.kiln.frontend.tflite.operator.Subgraphs.ImportedSubgraph;
import io.kiln.frontend.tflite.operator.TensorValues;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.ModelTables.Model;
import io.kiln.frontend.tflite.schema.ModelTables.Operator;
import io.kiln.frontend.tflite.schema.ModelTables.OperatorCode;
import io.kiln.frontend.tflite.schema.ModelTables.SignatureDef;
import io.kiln.frontend.tflite.schema.ModelTables.SubGraph;
import io.kiln.frontend.tflite.tensor.TensorBuffers;
import io.kiln.frontend.tflite.tensor.TensorReader;
import io.kiln.ir.Arg;
import io.kiln.ir.CallRules;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.type.Shape;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Supplier;

/** Imports the subgraphs of a model file: one of them is the model, its operators call others. */
final class ModelImporter implements Subgraphs {
    private static final int MAX_ENTRIES = 1 << 16;
    private static final int MAX_NAME = 1024;

    private final FlatBuffer buffer;
    private final FlatTable model;
    private final TensorBuffers buffers;
    private final OfflinePlan arena;
    private final ConstantFolder folder;
    private final Set<Integer> open = new HashSet<>();
    private int calls;
    private int main;
    private final CustomOperators customOperators;
    private final TfliteRounding rounding;
    private final Map<String, String> declared = new HashMap<>();

    ModelImporter(
            FlatBuffer buffer,
            FlatTable model,
            TensorBuffers buffers,
            CustomOperators customOperators,
            TfliteRounding rounding) {
        this.buffers = buffers;
        this.arena = OfflinePlan.of(buffers);
        this.rounding = rounding;
        this.customOperators = customOperators;
        this.buffer = buffer;
        this.model = model;
        this.folder = new ConstantFolder(buffer.size());
    }

    @Override
    public ConstantFolder folder() {
        return folder;
    }

    /**
     * The model.
     *
     * @throws KilnException with all of its errors and unsupported operators
     */
    Function main(String name, InputShapes shapes) {
        Problems problems = new Problems(Failure.MODEL);
        limited(subgraphs(), "subgraphs", problems);
        problems.throwIfAny();
        main = subgraph(shapes.signature());
        FlatTable graph = subgraphs().table(main);
        limited(graph.get(SubGraph.INPUTS), "model inputs", problems);
        Function function = read(main, name, shapes, List.of(), List.of(), problems)
                .function()
                .withIdsInOrder();
        return function;
    }

    /**
     * The subgraph of a signature or, if that names none, of a name.
     *
     * @param signature empty for the first subgraph, which interpreters run whatever signatures there are
     */
    private int subgraph(String signature) {
        if (signature.isEmpty()) {
            return 0;
        }
        FlatVector signatures = model.get(Model.SIGNATURE_DEFS);
        Map<String, Integer> byKey = new LinkedHashMap<>();
        for (int i = 0; i < signatures.spent().size(); i++) {
            FlatTable each = signatures.table(i);
            byKey.putIfAbsent(each.get(SignatureDef.SIGNATURE_KEY, MAX_NAME), each.get(SignatureDef.SUBGRAPH_INDEX));
        }
        for (int i = 0; i < subgraphs().spent().size(); i++) {
            byKey.putIfAbsent(subgraphs().table(i).get(SubGraph.NAME, MAX_NAME), i);
        }
        byKey.remove("");
        int index = byKey.getOrDefault(signature, -1);
        if (index < 0 || index >= subgraphs().size()) {
            throw Failure.CONFIG.exception(
                    "the model has no signature `" + signature + "`",
                    buffer.file(),
                    byKey.isEmpty()
                            ? "no kiln.signature, since it has no signatures"
                            : String.join(", ", byKey.keySet()),
                    "Correct kiln.signature");
        }
        return index;
    }

    @Override
    public ImportedSubgraph called(int index, String name, List<Optional<String>> handles, List<Shape> shapes) {
        return entered(index, () -> read(index, name, InputShapes.NONE, shapes, handles, new Problems(Failure.MODEL)));
    }

    @Override
    public List<Arg> inlined(int index, TensorValues around, List<Arg> args, boolean infersShape) {
        List<Shape> shapes = infersShape
                ? args.stream().map(arg -> around.graph().type(arg).shape()).toList()
                : List.of();
        return entered(index, () -> {
            FlatTable graph = subgraphs().table(index);
            return importer(graph, InputShapes.NONE, shapes, new Problems(Failure.MODEL), Optional.of(around))
                    .inlined(
                            graph.get(SubGraph.INPUTS).ints(),
                            args,
                            graph.get(SubGraph.OUTPUTS).ints());
        });
    }

    /** Reads a subgraph that another one calls, unless calls are without end. */
    private <T> T entered(int index, Supplier<T> reading) {
        if (index < 0 || index == main || index >= subgraphs().size()) {
            throw Failure.MODEL.exception(
                    "subgraph #" + index + " cannot be called",
                    buffer.file(),
                    "one of the subgraphs #0 to #" + (subgraphs().size() - 1) + ", but for #" + main
                            + ", which is the model",
                    "Export the model again");
        }
        if (open.size() == CallRules.MAX_DEPTH || ++calls > CallRules.MAX_FUNCTIONS) {
            throw Failure.MODEL.exception(
                    "subgraphs call each other " + calls + " times, " + open.size() + " deep",
                    buffer.file(),
                    "at most " + CallRules.MAX_FUNCTIONS + " calls, " + CallRules.MAX_DEPTH + " deep",
                    "Export a flatter model");
        }
        if (!open.add(index)) {
            throw Failure.MODEL.exception(
                    "subgraph #" + index + " calls itself", buffer.file(), "no recursion", "Export the model again");
        }
        try {
            return reading.get();
        } finally {
            open.remove(index);
        }
    }

    /** Operators computed by the user's C functions. */
    CustomOperators customOperators() {
        return customOperators;
    }

    @Override
    public TfliteRounding rounding() {
        return rounding;
    }

    @Override
    public OptionalInt arenaOffset(int tensor) {
        return main == 0 && open.isEmpty() ? arena.offset(tensor) : OptionalInt.empty();
    }

    @Override
    public String declare(String function, String signature) {
        return declared.computeIfAbsent(function, name -> signature);
    }

    private FlatVector subgraphs() {
        return model.get(Model.SUBGRAPHS);
    }

    private ImportedSubgraph read(
            int index,
            String name,
            InputShapes given,
            List<Shape> shapes,
            List<Optional<String>> handles,
            Problems problems) {
        FlatTable graph = subgraphs().table(index);
        FlatVector inputs = graph.get(SubGraph.INPUTS);
        FlatVector outputs = graph.get(SubGraph.OUTPUTS);
        boolean isCalled = index != main;
        if (!isCalled || outputs.size() > 0) {
            limited(outputs, "model outputs", problems);
        }
        if (!isCalled) {
            limited(graph.get(SubGraph.OPERATORS), "operators", problems);
        }
        return importer(graph, given, shapes, problems, Optional.empty())
                .read(name, inputs.ints(), handles, outputs.ints(), isCalled);
    }

    /**
     * @param given the user's shapes of inputs, by name
     * @param shapes those of a call, in the inputs' order; empty if there are none
     * @param around the values of the subgraph whose function it becomes part of, if it has none of its own
     */
    private GraphImporter importer(
            FlatTable graph, InputShapes given, List<Shape> shapes, Problems problems, Optional<TensorValues> around) {
        FlatVector inputs = graph.get(SubGraph.INPUTS);
        FlatVector tensors = limited(graph.get(SubGraph.TENSORS), "tensors", problems);
        FlatVector operators = graph.get(SubGraph.OPERATORS);
        if (operators.size() > 0) {
            limited(operators, "operators", problems);
        }
        problems.throwIfAny();
        TensorReader reader = new TensorReader(buffer, tensors, buffers, inputs.ints(), given, shapes, problems);
        TensorValues values =
                around.map(TensorValues::inside).orElseGet(() -> new TensorValues(new GraphBuilder(folder)));
        return new GraphImporter(this, buffer.file(), reader, values, operators(operators), problems);
    }

    private FlatVector limited(FlatVector vector, String what, Problems problems) {
        if (vector.size() == 0) {
            problems.add("the model has no " + what, buffer.file(), "at least one", "Export the model again");
        } else if (vector.size() > MAX_ENTRIES) {
            problems.add("the model has " + vector.size() + " " + what, buffer.file(), "at most " + MAX_ENTRIES, "");
        }
        return vector;
    }

    private List<OperatorRecord> operators(FlatVector operators) {
        FlatVector codes = model.get(Model.OPERATOR_CODES);
        List<OperatorRecord> records = new ArrayList<>();
        for (int i = 0; i < operators.size(); i++) {
            FlatTable table = operators.table(i);
            long code = table.get(Operator.OPCODE_INDEX) & 0xFFFFFFFFL;
            if (code >= codes.size()) {
                throw Failure.MODEL.exception(
                        "operator code #" + code + " does not exist",
                        buffer.file() + ": operator #" + i,
                        "one of the model's " + codes.size() + " operator codes",
                        "Export the model again");
            }
            records.add(operator(i, codes.table((int) code), table));
        }
        return records;
    }

    /** Codes above 126 are in a newer field; the older field then holds a placeholder. */
    private static OperatorRecord operator(int index, FlatTable code, FlatTable table) {
        int builtin = Math.max(code.get(OperatorCode.DEPRECATED_BUILTIN_CODE), code.get(OperatorCode.BUILTIN_CODE));
        String name = builtin == BuiltinOperator.CUSTOM.code()
                ? OperatorRecord.CUSTOM + code.get(OperatorCode.CUSTOM_CODE, MAX_NAME)
                : BuiltinOperator.text(builtin);
        return new OperatorRecord(index, builtin, code.get(OperatorCode.VERSION), name, table);
    }

    /**
     * The memory plan that Vela leaves in its files as metadata {@code OfflineMemoryAllocation}: version, number of subgraphs, number of tensors, then
     * the first byte of each tensor of the first subgraph in the arena, -1 for constants.
     */
    private record OfflinePlan(Optional<FlatVector> plan) {
        private static final String NAME = "OfflineMemoryAllocation";
        private static final int HEAD = 3;

        /** The plan of a file, if it has one of a version that is known. */
        static OfflinePlan of(TensorBuffers buffers) {
            return new OfflinePlan(buffers.metadata(NAME)
                    .map(bytes ->
                            new FlatVector(bytes.buffer(), bytes.start(), bytes.size() / Integer.BYTES, Integer.BYTES))
                    .filter(words -> words.size() >= HEAD && words.i32(0) == 0));
        }

        /** The first byte of a tensor, if the plan has a place for it. */
        OptionalInt offset(int tensor) {
            return plan.filter(words -> tensor < words.i32(2) && HEAD + tensor < words.size())
                    .map(words -> words.i32(HEAD + tensor))
                    .filter(offset -> offset >= 0)
                    .map(OptionalInt::of)
                    .orElse(OptionalInt.empty());
        }
    }
}
