// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;

/**
 * The board profile that a device of a pack makes.
 *
 * @param files of its folder, by name: {@code board.yaml} and what belongs to it
 * @param device name of the device
 * @param most clock of the core that the device takes, in hertz; empty if the pack does not tell
 * @param questions what the pack leaves open
 */
public record DeviceBoard(SortedMap<String, Bytes> files, String device, OptionalLong most, List<String> questions) {
    /** Name of the description of the peripherals in the board's folder, for debuggers. */
    public static final String SVD = "device.svd";

    /** Most bytes of that: the descriptions of large devices have a few megabytes. */
    public static final int MOST_SVD = 16 << 20;

    public DeviceBoard {
        questions = List.copyOf(questions);
    }

    /**
     * What is asked of a pack.
     *
     * @param name {@code [vendor::]device[:core]}; of several cores the pack's first one counts if none is named
     * @param offset bytes at the beginning of the code's memory that belong to a boot loader
     * @param hertz the clock of the core that the profile states; empty for the most that the device takes
     * @param isWhole whether the profile extends no other one, which would have start-up code, console and clock
     */
    public record Request(String name, long offset, OptionalLong hertz, boolean isWhole) {}

    /**
     * Makes the profile of a device.
     *
     * @param id of the board
     * @throws KilnException if there is no such device, if Kiln does not compile for its core, or if its memories do not suffice
     */
    public static DeviceBoard of(Packs packs, Request request, String id) {
        String name = request.name().strip();
        String plain = name.substring(name.indexOf("::") < 0 ? 0 : name.indexOf("::") + 2);
        int colon = plain.indexOf(':');
        Packs.Found found = packs.device(colon < 0 ? plain : plain.substring(0, colon));
        Device device = Device.of(found.entry());
        String core = core(device, colon < 0 ? Optional.empty() : Optional.of(plain.substring(colon + 1)));
        return new BoardWriter(found.pack(), device, core, request).write(id);
    }

    private static String core(Device device, Optional<String> named) {
        Map<String, Map<String, String>> cores = device.processors();
        String core = named.orElseGet(() -> firstCore(device).getKey());
        if (!cores.containsKey(core)) {
            throw refused(
                    device.name() + " has no core " + core,
                    cores.containsKey("") ? "the device's name alone" : "one of " + String.join(", ", cores.keySet()));
        }
        return core;
    }

    /** The core that counts if none is named, with its attributes. */
    static Map.Entry<String, Map<String, String>> firstCore(Device device) {
        return device.processors().entrySet().stream()
                .findFirst()
                .orElseThrow(() -> refused("the pack names no core of " + device.name(), "a processor element"));
    }

    private static KilnException refused(String what, String expected) {
        return Failure.BOARD.exception(what, "kiln.device", expected);
    }
}
