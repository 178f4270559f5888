// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.artifact.DeviceHooks;
import io.kiln.artifact.DlpackType;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.InterfaceNames.Side;
import io.kiln.artifact.ModelMetadata.Interface;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.DType;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.PackedApi;
import io.kiln.codegen.c.CFile;
import io.kiln.codegen.c.CFile.CItem;
import io.kiln.codegen.c.CFile.CSignature;
import io.kiln.codegen.c.CFile.CStatement;
import io.kiln.codegen.c.PackedText;
import io.kiln.executor.ExecutableModule;
import io.kiln.executor.ExecutableModule.Executor;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.PlannedModule.WorkspacePool;
import io.kiln.executor.StateMemory;
import io.kiln.executor.aot.PackedEntryPoint.PackedFunctions;
import io.kiln.lower.Callee;
import io.kiln.stream.Program.StoredValue;
import io.kiln.stream.Program.StoredValue.Place;
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

    /** {@code <name>_lib0.c}: the functions of the typed interface and the workspace pool. */
    private record EntryPoint(PlannedModule module, PrimFunc main) {
        private static final String CHECK_FAILURE = "0x500";
        private static final String CHECK_FAILURE_NAME = "kTvmErrorPlatformCheckFailure";

        private static final String STATUS = "status";

        /**
         * The entry point's file.
         *
         * @param main the function that calls the operators
         */
        static CFile of(PlannedModule module, PrimFunc main) {
            EntryPoint entry = new EntryPoint(module, main);
            return new CFile(
                    module.origin(),
                    module.names().library(0) + ".c",
                    Optional.empty(),
                    entry.includes(),
                    module.isCallerOwned() ? entry.callerItems() : entry.workspaceItems());
        }

        private List<String> includes() {
            List<String> includes =
                    new ArrayList<>(List.of("\"" + module.names().header() + "\""));
            if (CSignature.needsBool(main)) {
                includes.add("<stdbool.h>");
            }
            return includes;
        }

        /** The items of an entry point to which callers pass inputs and outputs, with a pool of its own. */
        private List<CItem> callerItems() {
            List<CItem> items = new ArrayList<>();
            items.addAll(prototypes());
            for (WorkspacePool pool : module.workspacePools()) {
                String size =
                        module.pools().size() == 1 ? module.names().workspaceSize() : String.valueOf(pool.bytes());
                items.add(new CItem.StaticBytes(
                        "Values between operators, placed by the memory plan.",
                        pool.name(),
                        size,
                        pool.section(),
                        pool.alignment()));
            }
            items.add(new CItem.Definition(run(module), callerRun()));
            return items;
        }

        private List<CStatement> callerRun() {
            List<CStatement> body = new ArrayList<>();
            List<String> arguments = new ArrayList<>();
            for (TensorInfo input : module.api().inputs()) {
                arguments.add("inputs->" + input.cName());
                body.addAll(checked("inputs->" + input.cName(), input.dtype().bytes()));
            }
            for (TensorInfo output : module.api().outputs()) {
                arguments.add("outputs->" + output.cName());
                body.addAll(checked("outputs->" + output.cName(), output.dtype().bytes()));
            }
            module.workspacePools().forEach(pool -> arguments.add(pool.name()));
            body.addAll(call(arguments));
            return body;
        }

        private List<CItem> prototypes() {
            List<CItem> items = new ArrayList<>(List.of(new CItem.Prototype("", CSignature.of(main))));
            for (DeviceHooks device : module.devices()) {
                items.add(hook("The driver of " + device.device() + ".", device.activate()));
                items.add(hook("", device.deactivate()));
            }
            return items;
        }

        private static CItem hook(String comment, String name) {
            return new CItem.Prototype(comment, CSignature.fallible(name, List.of("void* context")));
        }

        /** The items of an entry point to which callers pass the pool, which contains inputs and outputs. */
        private List<CItem> workspaceItems() {
            List<CStatement> run = new ArrayList<>();
            module.workspacePools().forEach(pool -> run.addAll(checked(member(pool), pool.alignment())));
            run.addAll(call(
                    module.workspacePools().stream().map(EntryPoint::member).toList()));
            List<CItem> items = prototypes();
            items.addAll(List.of(
                    map(Side.INPUTS, Place.INPUT, module.api().inputs()),
                    map(Side.OUTPUTS, Place.OUTPUT, module.api().outputs()),
                    new CItem.Definition(run(module), run)));
            return items;
        }

        private CItem map(Side side, Place place, List<TensorInfo> tensors) {
            List<StoredValue> stored = module.program().values().stream()
                    .filter(value -> value.place() == place)
                    .toList();
            List<CStatement.Field> fields = stored.stream()
                    .map(value ->
                            new CStatement.Field(tensors.get(value.index()).cName(), address(value)))
                    .toList();
            List<CStatement> body = new ArrayList<>();
            stored.stream()
                    .map(value -> module.poolOf(module.layout().value(value.id())))
                    .distinct()
                    .forEach(pool -> body.add(new CStatement.BytePointer(variable(pool), member(pool))));
            body.add(new CStatement.StructValue(module.names().struct(side), "mapped", fields));
            body.add(new CStatement.Return("mapped"));
            return new CItem.Definition(mapped(module, side), body);
        }

        private String address(StoredValue value) {
            long address = module.layout().value(value.id());
            WorkspacePool pool = module.poolOf(address);
            return "&" + variable(pool) + "[" + (address - pool.start()) + "]";
        }

        private String variable(WorkspacePool pool) {
            return module.pools().size() == 1 ? "pool" : pool.name();
        }

        private static String member(WorkspacePool pool) {
            return "workspace_pools->" + pool.name();
        }

        /** Checks the alignment of a pointer: misaligned memory is an error of the caller, which is reported. */
        private static List<CStatement> checked(String pointer, int alignment) {
            return alignment > 1
                    ? List.of(new CStatement.CheckAlignment(pointer, alignment, CHECK_FAILURE, CHECK_FAILURE_NAME))
                    : List.of();
        }

        /** Runs the operators, with the devices active: what is activated is deactivated, whatever happens between. */
        private List<CStatement> call(List<String> arguments) {
            List<String> all = new ArrayList<>(arguments);
            module.devices().forEach(device -> all.add("devices->" + device.device()));
            String main = module.names().main() + "(" + String.join(", ", all) + ")";
            if (module.devices().isEmpty()) {
                return List.of(new CStatement.Return(main));
            }
            List<CStatement> run = List.of(new CStatement.Assign(STATUS, main));
            for (int i = module.devices().size() - 1; i >= 0; i--) {
                DeviceHooks device = module.devices().get(i);
                String context = "(devices->" + device.device() + ")";
                run = List.of(new CStatement.Between(
                        STATUS, device.activate() + context, run, device.deactivate() + context));
            }
            List<CStatement> body = new ArrayList<>(List.of(new CStatement.Variable("int32_t " + STATUS, "-1")));
            body.addAll(run);
            body.add(new CStatement.Return(STATUS));
            return body;
        }
    }

    /** {@code tvmgen_<name>.h}: microTVM's C interface header. */
    private static final class InterfaceHeader {
        private final PlannedModule module;
        private final Interface api;
        private final InterfaceNames names;
        private final List<CItem> items = new ArrayList<>();

        private InterfaceHeader(PlannedModule module) {
            this.module = module;
            this.api = module.api();
            this.names = module.names();
        }

        /**
         * The interface header.
         *
         * @param stateBytes static memory that is kept between runs
         */
        static CFile of(PlannedModule module, long stateBytes) {
            InterfaceHeader header = new InterfaceHeader(module);
            header.tensors();
            header.devices();
            if (module.isCallerOwned()) {
                header.callerInterface();
            } else {
                header.workspaceInterface();
            }
            header.workspaceSize();
            if (stateBytes > 0) {
                header.state(stateBytes);
            }
            return new CFile(
                    module.origin(),
                    module.names().header(),
                    Optional.of(module.names().includeGuard()),
                    List.of("<stdint.h>"),
                    header.items);
        }

        private void tensors() {
            api.inputs().forEach(tensor -> size("Input", tensor));
            api.outputs().forEach(tensor -> size("Output", tensor));
            String input = module.isCallerOwned() ? "const void*" : "void*";
            struct("Input tensor pointers", names.struct(Side.INPUTS), input, api.inputs());
            struct("Output tensor pointers", names.struct(Side.OUTPUTS), "void*", api.outputs());
        }

        private void size(String kind, TensorInfo tensor) {
            items.add(new CItem.Macro(
                    kind + " tensor " + tensor.name() + " " + tensor.dtype().text() + tensor.shape()
                            + ", size in bytes, of " + module.name(),
                    names.tensorSize(tensor.cName()),
                    tensor.bytes()));
        }

        private void struct(String what, String name, String type, List<TensorInfo> tensors) {
            items.add(new CItem.Struct(
                    what + " of " + module.name(),
                    name,
                    type,
                    tensors.stream().map(TensorInfo::cName).toList()));
        }

        /** The struct of contexts that programs pass to the hooks of each device's driver. */
        private void devices() {
            if (!module.devices().isEmpty()) {
                items.add(new CItem.Struct(
                        "Device context pointers of " + module.name(),
                        names.devicesStruct(),
                        "void*",
                        module.devices().stream().map(DeviceHooks::device).toList()));
            }
        }

        private void callerInterface() {
            items.add(new CItem.Prototype(
                    "Runs " + module.name() + " once; returns 0, or an error code of tvm/runtime/crt/error_codes.h.",
                    run(module)));
        }

        private void workspaceInterface() {
            List<WorkspacePool> pools = module.workspacePools();
            items.add(new CItem.Struct(
                    "Workspace pool pointers of " + module.name() + ", each aligned to "
                            + pools.get(0).alignment() + " bytes",
                    names.poolsStruct(),
                    "void*",
                    pools.stream().map(WorkspacePool::name).toList()));
            items.add(new CItem.Prototype(
                    "Where the inputs lie in the pool; they are valid until run has read them.",
                    mapped(module, Side.INPUTS)));
            items.add(new CItem.Prototype(
                    "Where the outputs lie in the pool; they are valid after run until the next one.",
                    mapped(module, Side.OUTPUTS)));
            items.add(new CItem.Prototype(
                    "Runs " + module.name() + " once on the pool; returns 0, or an error code.", run(module)));
        }

        private void workspaceSize() {
            String who = module.isCallerOwned()
                    ? "; internal, the caller provides nothing"
                    : ", inputs and outputs included";
            items.add(new CItem.Macro(
                    "Workspace of " + module.name() + " in bytes" + who,
                    names.workspaceSize(),
                    module.workspaceBytes()));
            if (!module.isCallerOwned()) {
                module.workspacePools()
                        .forEach(pool -> items.add(new CItem.Macro(
                                "Size in bytes of the pool " + pool.name(),
                                names.poolSize(pool.name()),
                                pool.bytes())));
            }
        }

        private void state(long bytes) {
            items.add(new CItem.Macro(
                    "Static memory in bytes that " + module.name() + " keeps from run to run; internal",
                    names.stateSize(),
                    bytes));
            items.add(new CItem.Prototype("Makes " + module.name() + " forget what it saw; returns 0.", reset(module)));
        }
    }

    /** {@code tvmgen_<name>_run}: takes the tensors, or the pool that contains them, and the devices if there are any. */
    private static CSignature run(PlannedModule module) {
        InterfaceNames names = module.names();
        List<String> parameters = new ArrayList<>(
                module.isCallerOwned()
                        ? List.of(names.struct(Side.INPUTS) + "* inputs", names.struct(Side.OUTPUTS) + "* outputs")
                        : List.of(pools(names)));
        if (!module.devices().isEmpty()) {
            parameters.add(names.devicesStruct() + "* devices");
        }
        return CSignature.fallible(names.run(), parameters);
    }

    /** {@code tvmgen_<name>_map_inputs} or {@code _map_outputs}. */
    private static CSignature mapped(PlannedModule module, Side side) {
        InterfaceNames names = module.names();
        return new CSignature(names.struct(side), names.map(side), List.of(pools(names)));
    }

    /** {@code tvmgen_<name>_reset}. */
    private static CSignature reset(PlannedModule module) {
        return CSignature.fallible(module.names().reset(), List.of());
    }

    private static String pools(InterfaceNames names) {
        return names.poolsStruct() + "* workspace_pools";
    }
}
