// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import io.kiln.artifact.Artifact;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.op.call.EthosU;
import io.kiln.npu.DriverPayload;
import io.kiln.npu.NpuOperation;
import io.kiln.npu.NpuOperations;
import io.kiln.partition.ethosu.EthosUCodegen;
import io.kiln.report.listing.InspectReport.NpuPart;
import io.kiln.report.listing.InspectReport.NpuRegion;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The parts of a model that Vela compiled for an NPU: regions and operations. */
final class NpuParts {
    private NpuParts() {}

    /** The parts, in the order of the model. */
    static List<NpuPart> of(Function function) {
        return parts(function).map(NpuParts::part).toList();
    }

    /** The command streams, as a build gives them to tools. */
    static List<Artifact> streams(Function function) {
        List<Artifact> streams = new ArrayList<>();
        parts(function)
                .forEach(part -> streams.add(new Artifact(
                        EthosUCodegen.NAME,
                        EthosUCodegen.NAME,
                        "part_" + streams.size() + EthosUCodegen.SUFFIX,
                        payload(part),
                        EthosUCodegen.NAME)));
        return streams;
    }

    private static Stream<Binding> parts(Function function) {
        return Stream.concat(
                function.bindings().stream().filter(binding -> binding.op() instanceof EthosU),
                function.functions().stream().flatMap(NpuParts::parts));
    }

    private static NpuPart part(Binding binding) {
        EthosU op = (EthosU) binding.op();
        DriverPayload payload = DriverPayload.read(
                payload(binding),
                (what, expected) ->
                        Failure.MODEL.exception(what, binding.origin().text(), expected));
        List<NpuOperation> operations = NpuOperations.of(payload);
        List<NpuRegion> regions = new ArrayList<>();
        regions.add(new NpuRegion(
                "weights", binding.constant(op.payload() + 1).data().size()));
        regions.add(new NpuRegion("scratch", op.arenaBytes()));
        if (op.fastBytes() > 0) {
            regions.add(new NpuRegion("fast scratch", op.fastBytes()));
        }
        return new NpuPart(
                binding.origin().tensor(),
                payload.configuration().name(),
                payload(binding).size(),
                payload.commands().size(),
                operations.stream().mapToLong(NpuOperation::macs).sum(),
                regions,
                bytes(operations, "weights"),
                bytes(operations, "scales"),
                bytes(operations, NpuOperation.TABLE),
                operations.stream().map(NpuOperation::text).toList());
    }

    private static Bytes payload(Binding part) {
        return part.constant(((EthosU) part.op()).payload()).data();
    }

    /** Bytes that the operations read as something, each once, however often. */
    private static long bytes(List<NpuOperation> operations, String what) {
        return operations.stream()
                .flatMap(operation -> operation.accesses().stream())
                .filter(access -> access.what().equals(what))
                .distinct()
                .mapToLong(access -> access.end() - access.first())
                .sum();
    }

    /** The parts in lines for people. */
    static List<String> lines(List<NpuPart> parts) {
        List<String> lines = new ArrayList<>();
        for (NpuPart part : parts) {
            lines.add("part `" + part.name() + "` for " + part.npu() + ": "
                    + part.operations().size()
                    + " operations, " + part.macs() + " MACs, " + part.commands() + " commands in "
                    + part.payloadBytes() + " bytes; weights " + part.weightBytes() + " bytes, scales "
                    + part.scaleBytes() + ", tables " + part.tableBytes());
            for (int i = 0; i < part.regions().size(); i++) {
                NpuRegion region = part.regions().get(i);
                lines.add("  region " + i + " " + region.name() + ", " + region.bytes() + " bytes");
            }
            part.operations().forEach(operation -> lines.add("  " + operation));
        }
        return lines;
    }
}
