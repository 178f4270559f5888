// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.graph;

import io.kiln.codegen.PackedApi.PackedFunction;
import io.kiln.codegen.PackedApi.PackedFunction.Tensor;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.StateMemory;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.OperatorBuffers;
import io.kiln.stream.Program.StoredValue;
import io.kiln.stream.Program.StoredValue.Place;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Buffer.Scope;
import io.kiln.tir.Exprs;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * An operator that takes nothing but tensors, inputs first: its scratch is the file's, the model's variables are where they always are, and
 * its constants lie in the C, or are inputs too.
 *
 * @param function the loops
 * @param packed what it expects of its arguments
 * @param inputs ids of the values that it reads
 * @param parameters its constants, if they are inputs; they follow the values
 * @param output id of the value that it writes
 */
record TensorFunction(
        PrimFunc function, PackedFunction packed, List<Integer> inputs, List<PrimFunc.Table> parameters, int output) {
    TensorFunction {
        inputs = List.copyOf(inputs);
        parameters = List.copyOf(parameters);
    }

    /** Whether it has a result; some operators only change variables. */
    boolean hasOutput() {
        return packed.tensors().size() > inputs.size() + parameters.size();
    }

    /**
     * An operator of a module.
     *
     * @param scratch memory that all operators of the file share
     * @param linked whether constants stay in the C
     */
    static TensorFunction of(PlannedModule module, LoweredOperator operator, Buffer scratch, boolean linked) {
        Binder binder = new Binder(module, operator);
        binder.bindInputs();
        List<PrimFunc.Table> parameters =
                linked ? List.of() : operator.function().constants();
        parameters.forEach(table -> binder.pass(table.buffer(), shape(table.buffer())));
        binder.bindRest(scratch);
        return new TensorFunction(
                binder.function(linked),
                new PackedFunction(operator.function().name(), binder.tensors),
                binder.inputs,
                parameters,
                operator.output());
    }

    /** Finds a place for each buffer of an operator: an argument, or a view of memory that is there already. */
    private static final class Binder {
        private final PlannedModule module;
        private final LoweredOperator operator;
        private final Map<Integer, TensorType> types;
        private final BlockBuilder views = new BlockBuilder();
        private final List<Integer> inputs = new ArrayList<>();
        private final List<Buffer> arguments = new ArrayList<>();
        private final List<Tensor> tensors = new ArrayList<>();
        private boolean remembers;

        Binder(PlannedModule module, LoweredOperator operator) {
            this.module = module;
            this.operator = operator;
            this.types = module.program().function().types();
        }

        void pass(Buffer buffer, List<Integer> shape) {
            arguments.add(buffer);
            tensors.add(new Tensor(buffer.name(), buffer.dtype(), shape));
        }

        /** Values of the graph are arguments; variables are where the model keeps them. */
        void bindInputs() {
            Map<Integer, StoredValue> stored =
                    module.program().values().stream().collect(Collectors.toMap(StoredValue::id, Function.identity()));
            for (int i = 0; i < operator.inputs().size(); i++) {
                int id = operator.inputs().get(i);
                Buffer buffer = operator.function().buffers().get(i);
                StoredValue value = stored.get(module.program().storage().get(id));
                if (value.place() == Place.STATE) {
                    views.add(new Stmt.DeclareView(buffer, StateMemory.buffer(module, value), Exprs.imm(0)));
                    remembers = true;
                } else {
                    inputs.add(id);
                    pass(buffer, types.get(id).shape().dims());
                }
            }
        }

        /** Scratch shares the file's memory; what is left is the output. */
        void bindRest(Buffer scratch) {
            long used = 0;
            List<Buffer> buffers = operator.function().buffers();
            for (Buffer buffer : buffers.subList(operator.inputs().size(), buffers.size())) {
                if (buffer.scope() == Scope.SCRATCH) {
                    used = OperatorBuffers.nextScratch(used);
                    views.add(new Stmt.DeclareView(buffer, scratch, Exprs.imm(used)));
                    used += buffer.bytes();
                } else {
                    pass(buffer, types.get(operator.output()).shape().dims());
                }
            }
        }

        PrimFunc function(boolean linked) {
            if (remembers) {
                StateMemory.ensureInitialised(module, views);
            }
            PrimFunc function = operator.function();
            return new PrimFunc(
                    function.name(),
                    function.comment(),
                    arguments,
                    function.scalars(),
                    linked ? function.constants() : List.of(),
                    views.add(function.body()).build());
        }
    }

    /** The shape that a parameter has as a tensor. */
    static List<Integer> shape(Buffer table) {
        return List.of(Math.toIntExact(table.elements()));
    }
}
