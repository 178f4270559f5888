// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.device.flash.FlashFailure;
import io.kiln.device.flash.FlashFailure.FlashFailed;
import io.kiln.device.flash.FlashImage;
import io.kiln.device.flash.FlashProgress;
import io.kiln.device.flash.FlashResult;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.FlashRunner.Range;
import io.kiln.device.flash.Probe;
import io.kiln.firmware.update.DeviceModels;
import io.kiln.firmware.update.InstalledFirmware;
import io.kiln.firmware.update.ModelRegion;
import io.kiln.firmware.update.UpdateFile;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.toolchain.board.ModelSlots;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Writes an update's models into the free slot of devices that run their firmware already. */
final class ModelFlash {
    private final Log log;
    private final ModelSlots slots;
    private final UpdateFile update;
    private final boolean preverify;

    /**
     * @param build its board has slots, and it has written an update
     * @param preverify whether a device that runs the update's models already is left as it is
     * @throws KilnException if not
     */
    ModelFlash(Log log, ResolvedBuild build, boolean preverify) {
        this.log = log;
        this.slots = build.board()
                .slots()
                .orElseThrow(() -> Failure.UPDATE.exception(
                        "the board " + build.board().id() + " has no slots for models",
                        build.board().origin(),
                        "pools.slots in board.yaml",
                        "Flash the whole image: leave kiln.flash.only out"));
        Path file = file(build);
        if (!Files.isRegularFile(file)) {
            throw Failure.UPDATE.exception(
                    "there is no update", file.toString(), "kiln:link with kiln.update slots before this goal");
        }
        this.update = UpdateFile.read(file);
        this.preverify = preverify;
    }

    /** The update that a build writes. */
    static Path file(ResolvedBuild build) {
        return build.spec().update().file(build.spec().layout());
    }

    /** Bytes that a device gets. */
    long bytes() {
        return update.regions().get(0).bytes().size();
    }

    /** Updates one device; nothing is erased before the update is known to suit it. A failure is a result, so that other devices go on. */
    FlashResult flash(FlashRunner runner, Probe probe, FlashProgress progress) {
        long start = System.nanoTime();
        try {
            return flash(runner, probe, progress, start);
        } catch (FlashFailed e) {
            return failed(probe, e.failure(), start);
        }
    }

    private FlashResult flash(FlashRunner runner, Probe probe, FlashProgress progress, long start) {
        List<Bytes> heads = runner.read(probe, heads());
        Optional<InstalledFirmware> firmware = InstalledFirmware.read(heads.get(0));
        if (firmware.isEmpty()) {
            return refused(probe, "the device has no firmware with slots; flash the whole image first", start);
        }
        if (!firmware.get().slots().equals(slots.addresses()) || firmware.get().slotBytes() != slots.bytes()) {
            return refused(probe, "the device's firmware has other slots than the board", start);
        }
        DeviceModels held = held(runner, probe, firmware.get(), heads.subList(1, heads.size()));
        if (preverify && held.runs(update)) {
            return new FlashResult(probe, true, bytes(), Duration.ofNanos(System.nanoTime() - start), Optional.empty());
        }
        Optional<String> refusal = held.refusal(update);
        if (refusal.isPresent()) {
            return refused(probe, refusal.get(), start);
        }
        ModelRegion next = held.next(update).orElseThrow();
        FlashResult result = runner.flash(
                probe, FlashImage.of(List.of(new FlashImage.Segment(next.address(), next.bytes()))), progress);
        if (result.succeeded()) {
            log.info(probe.text() + ": models " + next.version() + " in slot " + (held.free() + 1)
                    + held.version()
                            .map(old -> "; version " + old + " stays in slot " + (2 - held.free()))
                            .orElse(""));
        }
        // The program and the models that run were not touched, whatever happened.
        return new FlashResult(
                probe,
                result.unchanged(),
                result.bytes(),
                Duration.ofNanos(System.nanoTime() - start),
                result.failure().map(FlashFailure::besideTheProgram));
    }

    /** The ranges of flash in which the firmware identifies itself, and those of the headers of both slots. */
    private List<Range> heads() {
        List<Range> heads = new ArrayList<>();
        heads.add(new Range(slots.first() - InstalledFirmware.BYTES, InstalledFirmware.BYTES));
        slots.addresses().forEach(address -> heads.add(new Range(address, ModelRegion.HEADER_BYTES)));
        return heads;
    }

    private DeviceModels held(FlashRunner runner, Probe probe, InstalledFirmware firmware, List<Bytes> headers) {
        List<OptionalInt> lengths = headers.stream()
                .map(header -> ModelRegion.length(header, slots.bytes()))
                .toList();
        List<Range> regions = new ArrayList<>();
        for (int i = 0; i < lengths.size(); i++) {
            long address = slots.addresses().get(i);
            lengths.get(i).ifPresent(length -> regions.add(new Range(address, length)));
        }
        List<Bytes> contents = regions.isEmpty() ? List.of() : runner.read(probe, regions);
        List<Optional<ModelRegion>> held = new ArrayList<>();
        int next = 0;
        for (OptionalInt length : lengths) {
            held.add(
                    length.isPresent()
                            ? Optional.of(ModelRegion.read(contents.get(next++).buffer(), probe.text()))
                            : Optional.empty());
        }
        return new DeviceModels(firmware, held);
    }

    private static FlashResult refused(Probe probe, String why, long start) {
        return failed(probe, FlashFailure.refused(why), start);
    }

    private static FlashResult failed(Probe probe, FlashFailure failure, long start) {
        return new FlashResult(probe, false, 0, Duration.ofNanos(System.nanoTime() - start), Optional.of(failure));
    }
}
