// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.artifact.DeviceHooks;
import io.kiln.artifact.InterfaceNames.Side;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.codegen.c.CFile;
import io.kiln.codegen.c.CItem;
import io.kiln.codegen.c.CSignature;
import io.kiln.codegen.c.CStatement;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.PlannedModule.WorkspacePool;
import io.kiln.stream.StoredValue;
import io.kiln.stream.StoredValue.Place;
import io.kiln.tir.PrimFunc;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code <name>_lib0.c}: the functions of the typed interface and the workspace pool. */
record EntryPoint(PlannedModule module, PrimFunc main) {
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
        List<String> includes = new ArrayList<>(List.of("\"" + module.names().header() + "\""));
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
            String size = module.pools().size() == 1 ? module.names().workspaceSize() : String.valueOf(pool.bytes());
            items.add(new CItem.StaticBytes(
                    "Values between operators, placed by the memory plan.",
                    pool.name(),
                    size,
                    pool.section(),
                    pool.alignment()));
        }
        items.add(new CItem.Definition(TypedSignatures.run(module), callerRun()));
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
        run.addAll(call(module.workspacePools().stream().map(EntryPoint::member).toList()));
        List<CItem> items = prototypes();
        items.addAll(List.of(
                map(Side.INPUTS, Place.INPUT, module.api().inputs()),
                map(Side.OUTPUTS, Place.OUTPUT, module.api().outputs()),
                new CItem.Definition(TypedSignatures.run(module), run)));
        return items;
    }

    private CItem map(Side side, Place place, List<TensorInfo> tensors) {
        List<StoredValue> stored = module.program().values().stream()
                .filter(value -> value.place() == place)
                .toList();
        List<CStatement.Field> fields = stored.stream()
                .map(value -> new CStatement.Field(tensors.get(value.index()).cName(), address(value)))
                .toList();
        List<CStatement> body = new ArrayList<>();
        stored.stream()
                .map(value -> module.poolOf(module.layout().value(value.id())))
                .distinct()
                .forEach(pool -> body.add(new CStatement.BytePointer(variable(pool), member(pool))));
        body.add(new CStatement.StructValue(module.names().struct(side), "mapped", fields));
        body.add(new CStatement.Return("mapped"));
        return new CItem.Definition(TypedSignatures.map(module, side), body);
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
            run = List.of(
                    new CStatement.Between(STATUS, device.activate() + context, run, device.deactivate() + context));
        }
        List<CStatement> body = new ArrayList<>(List.of(new CStatement.Variable("int32_t " + STATUS, "-1")));
        body.addAll(run);
        body.add(new CStatement.Return(STATUS));
        return body;
    }
}
