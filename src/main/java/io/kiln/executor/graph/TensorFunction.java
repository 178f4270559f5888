// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.graph;

import io.kiln.codegen.PackedFunction;
import io.kiln.codegen.PackedFunction.Tensor;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.StateMemory;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.OperatorBuffers;
import io.kiln.stream.StoredValue;
import io.kiln.stream.StoredValue.Place;
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
        Map<Integer, TensorType> types = module.program().function().types();
        Map<Integer, StoredValue> stored =
                module.program().values().stream().collect(Collectors.toMap(StoredValue::id, Function.identity()));
        PrimFunc function = operator.function();
        BlockBuilder body = new BlockBuilder();
        List<Integer> inputs = new ArrayList<>();
        List<Buffer> buffers = new ArrayList<>();
        List<Tensor> tensors = new ArrayList<>();
        boolean remembers = false;
        for (int i = 0; i < operator.inputs().size(); i++) {
            int id = operator.inputs().get(i);
            Buffer buffer = function.buffers().get(i);
            StoredValue value = stored.get(module.program().storage().get(id));
            if (value.place() == Place.STATE) {
                body.add(new Stmt.DeclareView(buffer, StateMemory.buffer(module, value), Exprs.imm(0)));
                remembers = true;
            } else {
                inputs.add(id);
                buffers.add(buffer);
                tensors.add(tensor(buffer, types.get(id).shape().dims()));
            }
        }
        List<PrimFunc.Table> parameters = linked ? List.of() : function.constants();
        for (PrimFunc.Table table : parameters) {
            buffers.add(table.buffer());
            tensors.add(tensor(table.buffer(), shape(table.buffer())));
        }
        long used = 0;
        for (Buffer buffer : function.buffers()
                .subList(operator.inputs().size(), function.buffers().size())) {
            if (buffer.scope() == Scope.SCRATCH) {
                used = OperatorBuffers.nextScratch(used);
                body.add(new Stmt.DeclareView(buffer, scratch, Exprs.imm(used)));
                used += buffer.bytes();
            } else {
                buffers.add(buffer);
                tensors.add(tensor(buffer, types.get(operator.output()).shape().dims()));
            }
        }
        if (remembers) {
            StateMemory.ensureInitialised(module, body);
        }
        PrimFunc bound = new PrimFunc(
                function.name(),
                function.comment(),
                buffers,
                function.scalars(),
                linked ? function.constants() : List.of(),
                body.add(function.body()).build());
        return new TensorFunction(
                bound, new PackedFunction(function.name(), tensors), inputs, parameters, operator.output());
    }

    /** The shape that a parameter has as a tensor. */
    static List<Integer> shape(Buffer table) {
        return List.of(Math.toIntExact(table.elements()));
    }

    private static Tensor tensor(Buffer buffer, List<Integer> shape) {
        return new Tensor(buffer.name(), buffer.dtype(), shape);
    }
}
