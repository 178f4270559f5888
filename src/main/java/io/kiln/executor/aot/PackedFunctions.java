// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.artifact.Convention;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.DType;
import io.kiln.codegen.PackedApi.PackedFunction;
import io.kiln.codegen.PackedApi.PackedFunction.Tensor;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.PlannedModule.WorkspacePool;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.LoweredOperator;
import io.kiln.stream.Step;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.PrimFunc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The functions of a module that have the packed signature, and what each of them takes. */
final class PackedFunctions {
    private final PlannedModule module;
    private final PrimFunc main;

    /**
     * The functions of a module.
     *
     * @param main what drives its operators
     */
    PackedFunctions(PlannedModule module, PrimFunc main) {
        this.module = module;
        this.main = main;
    }

    /** Whether operators and main function are packed, too. */
    boolean hasPackedOperators() {
        return module.api().convention() == Convention.PACKED;
    }

    /** {@code tvmgen_<name>_run}: all inputs, then all outputs. */
    PackedFunction run() {
        return new PackedFunction(
                module.names().run(), tensors().map(PackedFunctions::tensor).toList());
    }

    /** {@code tvmgen_<name>___tvm_main__}: inputs and outputs that have elements, then the workspace. */
    PackedFunction main() {
        List<Tensor> tensors = new ArrayList<>(tensors()
                .filter(tensor -> tensor.elements() != 0)
                .map(PackedFunctions::tensor)
                .toList());
        module.workspacePools().forEach(pool -> tensors.add(tensor(pool)));
        if (tensors.size() != main.buffers().size()) {
            throw new IllegalStateException(main.name() + " takes other buffers than the model has tensors");
        }
        return new PackedFunction(main.name(), tensors);
    }

    static Tensor tensor(WorkspacePool pool) {
        return new Tensor(pool.name(), DType.UINT8, List.of(Math.toIntExact(pool.bytes())));
    }

    /** The packed functions among those of the loop IR, in the order of a system library. */
    List<PackedFunction> inCode() {
        List<PackedFunction> functions = new ArrayList<>();
        if (hasPackedOperators()) {
            Map<String, Integer> rows = rows();
            module.program().operators().forEach(operator -> functions.add(operator(operator, rows)));
            functions.add(main());
        }
        if (!module.program().function().variables().isEmpty()) {
            functions.add(new PackedFunction(module.names().reset(), List.of()));
        }
        return functions;
    }

    /** Names of all packed functions, in the order of a system library. */
    List<String> names() {
        return Stream.of(
                        Stream.of(module.names().run()),
                        inCode().stream().map(PackedFunction::name),
                        Stream.of(module.names().metadata()))
                .flatMap(names -> names)
                .toList();
    }

    private Stream<TensorInfo> tensors() {
        return Stream.concat(module.api().inputs().stream(), module.api().outputs().stream());
    }

    private static Tensor tensor(TensorInfo info) {
        return new Tensor(info.cName(), info.dtype(), info.shape());
    }

    private PackedFunction operator(LoweredOperator operator, Map<String, Integer> rows) {
        Map<Integer, TensorType> types = module.program().function().types();
        List<Tensor> tensors = new ArrayList<>();
        PrimFunc function = operator.function();
        for (int i = 0; i < function.buffers().size(); i++) {
            Buffer buffer = function.buffers().get(i);
            List<Integer> shape = i < operator.inputs().size()
                    ? types.get(operator.inputs().get(i)).shape().dims()
                    : buffer.scope() == Buffer.Scope.SCRATCH
                            ? List.of(Math.toIntExact(buffer.elements()))
                            : types.get(operator.output()).shape().dims();
            tensors.add(new Tensor(buffer.name(), buffer.dtype(), shape));
        }
        List<String> integers = function.scalars().stream().map(Expr.Var::name).toList();
        return new PackedFunction(function.name(), tensors, integers, rows.getOrDefault(function.name(), 0));
    }

    /** Rows of the operators that compute some of them at a time. */
    private Map<String, Integer> rows() {
        Map<String, Integer> rows = new HashMap<>();
        for (Step step : module.program().steps()) {
            if (step instanceof Step.Stream stream) {
                stream.lanes()
                        .forEach(lane -> rows.put(lane.operator().function().name(), lane.rows()));
            }
        }
        return rows;
    }
}
