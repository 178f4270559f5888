// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.artifact.DlpackType;
import io.kiln.codegen.PackedApi.PackedFunction;
import io.kiln.codegen.PackedApi.PackedFunction.Tensor;
import io.kiln.codegen.c.CFile;
import io.kiln.codegen.c.CItem;
import io.kiln.codegen.c.CSignature;
import io.kiln.codegen.c.CStatement;
import io.kiln.codegen.c.PackedText;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.PlannedModule.WorkspacePool;
import io.kiln.executor.SystemLibrarySource;
import io.kiln.tir.PrimFunc;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
}
