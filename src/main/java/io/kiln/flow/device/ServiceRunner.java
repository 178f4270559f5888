// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Extensions;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.flash.FlashFailure;
import io.kiln.device.flash.FlashImage;
import io.kiln.device.flash.FlashProgress;
import io.kiln.device.flash.FlashResult;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.Probe;
import io.kiln.spi.ImageRunner;
import io.kiln.toolchain.board.Flashing;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A service in a dependency of the plugin flashes devices.
 *
 * @param service what others wrote
 * @param how its options
 * @param probes the devices that the user selected
 */
record ServiceRunner(ImageRunner service, Flashing.Service how, List<Probe> probes) implements FlashRunner {
    private static final String ALL = "all";

    /**
     * The service that a board names.
     *
     * @param asked {@code kiln.probe}
     * @param from where services are looked for
     * @throws KilnException if there is no such service or probe, or several and none is asked for
     */
    static FlashRunner open(Flashing.Service how, Optional<String> asked, ClassLoader from) {
        ImageRunner service = Extensions.services(ImageRunner.class, "runner of images", from).stream()
                .filter(each -> guarded(each, "state its name", each::name).equals(how.name()))
                .findFirst()
                .orElseThrow(() -> new KilnException(Failure.EXTENSION.problem(
                        "there is no runner of images `" + how.name() + "`",
                        "flash.service.name of the board",
                        "a service of io.kiln.spi.ImageRunner with this name",
                        "Add the dependency that has it to the plugin")));
        List<String> found = guarded(service, "list its probes", () -> List.copyOf(service.probes(how.options())));
        List<String> chosen = asked.filter(text -> !text.isBlank())
                .filter(text -> !text.equals(ALL))
                .map(text ->
                        Arrays.stream(text.split(",", -1)).map(String::strip).toList())
                .orElse(found);
        boolean isAmbiguous =
                chosen.size() > 1 && asked.filter(text -> !text.isBlank()).isEmpty();
        if (chosen.isEmpty() || isAmbiguous || !found.containsAll(chosen)) {
            throw new KilnException(Failure.DEVICE.problem(
                    found.isEmpty() ? "no probe is connected" : "the probe is not clear",
                    "kiln.probe",
                    found.isEmpty() ? "" : "all, or some of " + String.join(", ", found),
                    found.isEmpty() ? "Connect one" : "Set kiln.probe"));
        }
        return new ServiceRunner(
                service, how, chosen.stream().<Probe>map(Probe.Serial::new).toList());
    }

    @Override
    public String tool() {
        return guarded(service, "state its tool", service::tool);
    }

    /** What it throws is the result of one device, so that others go on. */
    @Override
    public FlashResult flash(Probe probe, FlashImage image, FlashProgress progress) {
        long start = System.nanoTime();
        List<ImageRunner.Block> blocks = image.segments().stream()
                .map(segment -> new ImageRunner.Block(
                        segment.address(), segment.content().buffer()))
                .toList();
        Optional<FlashFailure> failure = Optional.empty();
        try {
            guarded(service, "flash " + probe.text(), () -> {
                service.flash(probe.text(), blocks, how.options());
                return blocks;
            });
        } catch (KilnException e) {
            failure = Optional.of(FlashFailure.ofService(e.getMessage()));
        }
        return new FlashResult(probe, false, image.size(), Duration.ofNanos(System.nanoTime() - start), failure);
    }

    private static <T> T guarded(ImageRunner service, String what, Supplier<T> call) {
        return Extensions.call(
                call,
                why -> new KilnException(Failure.EXTENSION.problem(
                        "it could not " + what + ": " + why, "runner of images " + Extensions.name(service))));
    }

    /** Does nothing: a service holds no device between calls. */
    @Override
    public void close() {}
}
