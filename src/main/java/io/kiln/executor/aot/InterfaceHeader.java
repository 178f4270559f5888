// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.artifact.DeviceHooks;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.InterfaceNames.Side;
import io.kiln.artifact.ModelMetadata.Interface;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.codegen.c.CFile;
import io.kiln.codegen.c.CItem;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.PlannedModule.WorkspacePool;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code tvmgen_<name>.h}: microTVM's C interface header. */
final class InterfaceHeader {
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
                TypedSignatures.run(module)));
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
                TypedSignatures.map(module, Side.INPUTS)));
        items.add(new CItem.Prototype(
                "Where the outputs lie in the pool; they are valid after run until the next one.",
                TypedSignatures.map(module, Side.OUTPUTS)));
        items.add(new CItem.Prototype(
                "Runs " + module.name() + " once on the pool; returns 0, or an error code.",
                TypedSignatures.run(module)));
    }

    private void workspaceSize() {
        String who =
                module.isCallerOwned() ? "; internal, the caller provides nothing" : ", inputs and outputs included";
        items.add(new CItem.Macro(
                "Workspace of " + module.name() + " in bytes" + who, names.workspaceSize(), module.workspaceBytes()));
        if (!module.isCallerOwned()) {
            module.workspacePools()
                    .forEach(pool -> items.add(new CItem.Macro(
                            "Size in bytes of the pool " + pool.name(), names.poolSize(pool.name()), pool.bytes())));
        }
    }

    private void state(long bytes) {
        items.add(new CItem.Macro(
                "Static memory in bytes that " + module.name() + " keeps from run to run; internal",
                names.stateSize(),
                bytes));
        items.add(new CItem.Prototype(
                "Makes " + module.name() + " forget what it saw; returns 0.", TypedSignatures.reset(module)));
    }
}
