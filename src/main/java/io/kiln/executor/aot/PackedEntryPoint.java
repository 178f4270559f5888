// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.artifact.Convention;
import io.kiln.artifact.DlpackType;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.DType;
import io.kiln.codegen.PackedApi.PackedFunction;
import io.kiln.codegen.PackedApi.PackedFunction.Tensor;
import io.kiln.codegen.c.CFile;
import io.kiln.codegen.c.CFile.CItem;
import io.kiln.codegen.c.CFile.CSignature;
import io.kiln.codegen.c.CFile.CStatement;
import io.kiln.codegen.c.PackedText;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.PlannedModule.WorkspacePool;
import io.kiln.executor.SystemLibrarySource;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.LoweredOperator;
import io.kiln.stream.Program.Step;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.PrimFunc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * {@code <name>_lib0.c} of the packed interface: {@code tvmgen_<name>_run}, the workspace pool, and the system library of a model that stands
 * alone. Programs may pass one more argument for the pool, as TVM's executor does; it is ignored.
 */
final class PackedEntryPoint {
    private final PlannedModule module;
    private final PrimFunc main;
    private final PackedFunctions functions;
    private final PackedFunction run;

    private PackedEntryPoint(PlannedModule module, PrimFunc main, PackedFunctions functions) {
        this.module = module;
        this.main = main;
        this.functions = functions;
        this.run = functions.run();
    }

    /** The entry point's file. */
    static CFile of(PlannedModule module, PrimFunc main, PackedFunctions functions) {
        PackedEntryPoint entry = new PackedEntryPoint(module, main, functions);
        List<CItem> items = new ArrayList<>();
        if (!functions.hasPackedOperators()) {
            items.addAll(PackedText.helpers(module.options().checked()));
        }
        items.addAll(entry.pools());
        items.addAll(functions.hasPackedOperators() ? entry.packedOperators() : entry.plainOperators());
        if (module.options().systemLibrary()) {
            items.addAll(SystemLibrarySource.items(functions.names()));
        }
        return new CFile(module.origin(), module.names().library(0) + ".c", Optional.empty(), entry.includes(), items);
    }

    private List<String> includes() {
        List<String> includes = new ArrayList<>();
        if (!functions.hasPackedOperators() && CSignature.needsBool(main)) {
            includes.add("<stdbool.h>");
        }
        includes.add("<tvm/runtime/c_runtime_api.h>");
        if (module.options().systemLibrary()) {
            includes.add(SystemLibrarySource.HEADER);
        }
        return includes;
    }

    private List<CItem> pools() {
        return module.workspacePools().stream()
                .map(pool -> (CItem) new CItem.StaticBytes(
                        "Values between operators, placed by the memory plan.",
                        pool.name(),
                        String.valueOf(pool.bytes()),
                        pool.section(),
                        pool.alignment()))
                .toList();
    }

    /** The items around a main function that takes pointers, so that arguments are checked here. */
    private List<CItem> plainOperators() {
        List<String> arguments = new ArrayList<>();
        List<String> all = PackedText.arguments(run);
        for (int i = 0; i < run.tensors().size(); i++) {
            if (!run.tensors().get(i).shape().contains(0)) {
                arguments.add(all.get(i));
            }
        }
        module.workspacePools().forEach(pool -> arguments.add(pool.name()));
        List<CItem> items = new ArrayList<>();
        items.add(new CItem.Prototype("", CSignature.of(main)));
        items.addAll(PackedText.definition(
                comment(),
                run,
                module.options().checked(),
                false,
                spare(),
                main.name() + "(" + String.join(", ", arguments) + ")"));
        return items;
    }

    /** The items around a main function that checks tensors; only what is read here is checked here. */
    private List<CItem> packedOperators() {
        List<CStatement> body = new ArrayList<>();
        if (module.options().checked()) {
            body.addAll(checks());
        } else {
            body.add(new CStatement.Ignore("num_args"));
        }
        List<String> values = new ArrayList<>();
        List<String> codes = new ArrayList<>();
        for (int i = 0; i < run.tensors().size(); i++) {
            if (!run.tensors().get(i).shape().contains(0)) {
                values.add("args[" + i + "]");
                codes.add("type_codes[" + i + "]");
            }
        }
        for (WorkspacePool pool : module.workspacePools()) {
            body.addAll(tensor(pool));
            values.add("{.v_handle = &" + tensorName(pool) + "}");
            codes.add("kTVMDLTensorHandle");
        }
        int count = values.size();
        body.add(new CStatement.Variable("TVMValue tensors[" + count + "]", "{" + String.join(", ", values) + "}"));
        body.add(new CStatement.Variable("int tensor_codes[" + count + "]", "{" + String.join(", ", codes) + "}"));
        body.add(new CStatement.Return(
                main.name() + "(tensors, tensor_codes, " + count + ", out_ret_value, out_ret_tcode, resource_handle)"));
        return List.of(
                new CItem.Prototype("", PackedText.signature(main.name())),
                new CItem.Definition(comment(), PackedText.signature(run.name()), body));
    }

    private List<CStatement> checks() {
        int count = run.arguments();
        String wrong =
                spare() == 0 ? "num_args != " + count : "num_args < " + count + " || num_args > " + (count + spare());
        return List.of(
                new CStatement.Refuse(wrong, run.name() + ": num_args should be " + count),
                new CStatement.Refuse("args == NULL", run.name() + ": TVMValue* arg pointer was NULL"),
                new CStatement.Refuse("type_codes == NULL", run.name() + ": int* type_codes was NULL"));
    }

    private static List<CStatement> tensor(WorkspacePool memory) {
        Tensor pool = PackedFunctions.tensor(memory);
        String shape = pool.name() + "_shape";
        return List.of(
                new CStatement.Variable(
                        "int64_t " + shape + "[1]", "{" + pool.shape().get(0) + "}"),
                new CStatement.Variable(
                        "DLTensor " + tensorName(memory),
                        "{.data = " + pool.name() + ", .device = {kDLCPU, 0}, .ndim = 1, .dtype = "
                                + DlpackType.of(pool.dtype()).text() + ", .shape = " + shape + "}"));
    }

    private static String tensorName(WorkspacePool pool) {
        return pool.name() + "_dltensor";
    }

    private int spare() {
        return module.workspacePools().size();
    }

    private String comment() {
        return "Runs " + module.name() + " once: inputs, then outputs.";
    }

    /** The functions of a module that have the packed signature, and what each of them takes. */
    static final class PackedFunctions {
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
            List<String> integers =
                    function.scalars().stream().map(Expr.Var::name).toList();
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
}
