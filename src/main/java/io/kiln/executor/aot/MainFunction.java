// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.DType;
import io.kiln.stream.Step;
import io.kiln.stream.StoredValue;
import io.kiln.stream.StoredValue.Place;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Buffer.Scope;
import io.kiln.tir.Exprs;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Builds {@code tvmgen_<name>___tvm_main__}: places every value and calls the operators in order. */
final class MainFunction {
    private final AotModule module;
    private final List<Buffer> parameters = new ArrayList<>();
    private final Map<Integer, Buffer> buffers = new HashMap<>();
    private final BlockBuilder body = new BlockBuilder();
    private final Buffer pool;

    private MainFunction(AotModule module) {
        this.module = module;
        this.pool = new Buffer(AotModule.POOL, DType.UINT8, module.workspaceBytes(), Scope.SCRATCH);
    }

    static PrimFunc build(AotModule module) {
        return new MainFunction(module).build();
    }

    private PrimFunc build() {
        for (StoredValue value : module.program().values()) {
            boolean parameter = module.io() == Io.CALLER && value.place() != Place.WORKSPACE;
            Buffer buffer = new Buffer(
                    name(value), value.type().dtype(), value.type().shape().elements(), scope(value, parameter));
            buffers.put(value.id(), buffer);
            if (parameter) {
                parameters.add(buffer);
            } else {
                place(buffer, module.layout().value(value.id()));
            }
        }
        if (module.hasPool()) {
            parameters.add(pool);
        }
        List<Step> steps = module.program().steps();
        for (int i = 0; i < steps.size(); i++) {
            body.add(call(steps.get(i), i));
        }
        String comment = "Runs the operators of " + module.name() + " in order.";
        return new PrimFunc(module.mainName(), comment, parameters, List.of(), List.of(), body.build());
    }

    private static Scope scope(StoredValue value, boolean parameter) {
        if (value.place() == Place.INPUT) {
            return parameter ? Scope.INPUT : Scope.VIEW;
        }
        return parameter ? Scope.OUTPUT : Scope.MUTABLE_VIEW;
    }

    private String name(StoredValue value) {
        List<TensorInfo> named = value.place() == Place.INPUT ? module.inputs() : module.outputs();
        return value.place() == Place.WORKSPACE
                ? "sid_" + value.id()
                : (value.place() == Place.INPUT ? "in_" : "out_")
                        + named.get(value.index()).cName();
    }

    private void place(Buffer buffer, long offset) {
        body.add(new Stmt.DeclareView(buffer, pool, Exprs.imm(offset)));
    }

    private Stmt call(Step step, int index) {
        if (step instanceof Step.Copy copy) {
            Buffer to = buffers.get(copy.to());
            return new Stmt.Copy(to, buffers.get(copy.from()), to.bytes());
        }
        var operator = ((Step.Run) step).operator();
        List<Buffer> arguments = new ArrayList<>();
        for (int input : operator.inputs()) {
            arguments.add(buffers.get(module.program().storage().get(input)));
        }
        arguments.add(buffers.get(operator.output()));
        if (operator.scratchBytes() > 0) {
            List<Buffer> parameters = operator.function().buffers();
            Buffer parameter = parameters.get(parameters.size() - 1);
            Buffer scratch =
                    new Buffer("scratch_" + index, parameter.dtype(), parameter.elements(), Scope.MUTABLE_VIEW);
            place(scratch, module.layout().scratch(index));
            arguments.add(scratch);
        }
        return new Stmt.CallFunction(operator.function().name(), arguments);
    }
}
