// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.artifact.DlpackType;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.DType;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.PackedApi;
import io.kiln.codegen.c.CFile;
import io.kiln.codegen.c.CItem;
import io.kiln.codegen.c.CStatement;
import io.kiln.codegen.c.PackedText;
import io.kiln.executor.ExecutableModule;
import io.kiln.executor.Executor;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.StateMemory;
import io.kiln.lower.Callee;
import io.kiln.tir.Buffer;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.TirVerifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The ahead-of-time executor: {@code tvmgen_<name>___tvm_main__}, a function of the loop IR, calls the operators in
 * order, and the entry point calls it.
 */
public final class AotExecution implements Executor {
    /** Number of the operators' file, after the entry point, which is library 0. */
    private static final int OPERATORS = 1;

    /** Number of the packed operators' file, after the entry point and the metadata. */
    private static final int PACKED_OPERATORS = 2;

    @Override
    public ExecutableModule drive(PlannedModule module) {
        List<Buffer> statics = StateMemory.arrays(module);
        List<PrimFunc> functions = new ArrayList<>(module.functions());
        StateMemory.reset(module).ifPresent(functions::add);
        functions.addAll(MainFunctionBuilder.build(module));
        PrimFunc main = functions.get(functions.size() - 1);
        functions.forEach(function -> TirVerifier.verify(function, statics));
        return switch (module.api().convention()) {
            case TYPED -> typed(module, main, statics, functions);
            case PACKED_ENTRY, PACKED -> packed(module, main, statics, functions);
        };
    }

    private static ExecutableModule typed(
            PlannedModule module, PrimFunc main, List<Buffer> statics, List<PrimFunc> functions) {
        CodeUnit code = new CodeUnit(module.origin(), module.names().library(OPERATORS), statics, functions);
        return new ExecutableModule(
                code,
                EntryPoint.of(module, main).artifact(),
                List.of(InterfaceHeader.of(module, code.staticBytes()).artifact()),
                List.of());
    }

    private static ExecutableModule packed(
            PlannedModule module, PrimFunc main, List<Buffer> statics, List<PrimFunc> functions) {
        PackedFunctions packed = new PackedFunctions(module, main);
        CodeUnit code = new CodeUnit(
                module.origin(),
                module.names().library(PACKED_OPERATORS),
                statics,
                functions,
                new PackedApi(packed.inCode(), module.options().checked()));
        return new ExecutableModule(
                code,
                PackedEntryPoint.of(module, main, packed).artifact(),
                List.of(MetadataSource.of(module).artifact()),
                packed.names());
    }

    /** A module that operators of another one call. */
    public static Callee callee(PlannedModule module) {
        List<PrimFunc> functions = new ArrayList<>(module.functions());
        functions.addAll(MainFunctionBuilder.build(module));
        PrimFunc main = functions.get(functions.size() - 1);
        return new Callee(main, module.workspaceBytes(), functions, module.operators());
    }

    /**
     * {@code <name>_lib1.c} of the packed interface: {@code kTvmgenMetadata}, which tells the AOT executor of the runtime what tensors the model has
     * (tvm/runtime/metadata_types.h). Outputs are called {@code output0} and so on. Constants lie with their operators, not in a pool.
     */
    private static final class MetadataSource {
        private static final String ROOT = "kTvmgenMetadata";
        private static final int VERSION = 1;

        private final PlannedModule module;
        private final List<CItem> items = new ArrayList<>();

        private MetadataSource(PlannedModule module) {
            this.module = module;
        }

        static CFile of(PlannedModule module) {
            MetadataSource source = new MetadataSource(module);
            source.fill();
            return new CFile(
                    module.origin(),
                    module.names().library(1) + ".c",
                    Optional.empty(),
                    List.of("<tvm/runtime/c_runtime_api.h>", "<tvm/runtime/metadata_types.h>"),
                    source.items);
        }

        private void fill() {
            List<TensorInfo> outputs = new ArrayList<>();
            for (TensorInfo output : module.api().outputs()) {
                outputs.add(new TensorInfo(
                        "output" + outputs.size(), "output" + outputs.size(), output.dtype(), output.shape(), 0, 0));
            }
            List<TensorInfo> pools = module.workspacePools().stream()
                    .map(pool -> new TensorInfo(
                            pool.name(), pool.name(), DType.UINT8, List.of(Math.toIntExact(pool.bytes())), 0, 0))
                    .toList();
            List<String> values = new ArrayList<>();
            values.add(VERSION + "L /* version */");
            values.addAll(tensors("inputs", module.api().inputs()));
            values.addAll(tensors("outputs", outputs));
            values.addAll(tensors("workspace_pools", pools));
            values.add("NULL");
            values.add("0L /* num_constant_pools */");
            values.add("\"" + module.names().prefix() + "\" /* mod_name */");
            items.add(new CItem.Constant(
                    "",
                    "const struct TVMMetadata " + ROOT + "[1]",
                    List.of("{" + String.join(",\n     ", values) + "}")));
            items.add(new CItem.Definition(
                    "Gives the address of the metadata.",
                    PackedText.signature(module.names().metadata()),
                    List.of(
                            new CStatement.Ignore("args"),
                            new CStatement.Ignore("type_codes"),
                            new CStatement.Ignore("num_args"),
                            new CStatement.Ignore("resource_handle"),
                            new CStatement.Assign("out_ret_value->v_handle", "(void*)" + ROOT),
                            new CStatement.Assign("*out_ret_tcode", "kTVMOpaqueHandle"),
                            new CStatement.Return("0"))));
        }

        /** The tables of one kind of tensors; gives the two members of the metadata that lead to them. */
        private List<String> tensors(String kind, List<TensorInfo> tensors) {
            List<String> infos = new ArrayList<>();
            for (TensorInfo tensor : tensors) {
                int rank = tensor.shape().size();
                String shape = ROOT + "_" + kind + "_" + infos.size() + "_shape";
                if (rank > 0) {
                    String dims = String.join(
                            ", ", tensor.shape().stream().map(d -> d + "L").toList());
                    items.add(new CItem.Constant("", "const int64_t " + shape + "[" + rank + "]", List.of(dims)));
                }
                infos.add("{\"" + tensor.cName() + "\", " + (rank > 0 ? shape : "NULL") + ", " + rank + "L, "
                        + DlpackType.of(tensor.dtype()).text() + "}");
            }
            String name = ROOT + "_" + kind;
            if (!infos.isEmpty()) {
                items.add(
                        new CItem.Constant("", "const struct TVMTensorInfo " + name + "[" + infos.size() + "]", infos));
            }
            return List.of(infos.isEmpty() ? "NULL" : name, infos.size() + "L /* num_" + kind + " */");
        }
    }
}
