// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.KilnException;
import io.kiln.toolchain.pack.MemoryPlan.Region;
import io.kiln.toolchain.pack.Packs.Found;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A device for people who look for one.
 *
 * @param name of the device or variant
 * @param cores of the device
 * @param clock that it takes at most
 * @param flash where code lies, its size
 * @param ram all RAM that programs use, its size
 * @param pack vendor, name and version
 * @param problem why no board can be made of it; empty if one can
 */
public record DeviceSummary(
        String name, String cores, String clock, String flash, String ram, String pack, String problem) {
    private static final String NONE = "-";
    private static final long MEGA = 1_000_000;

    static DeviceSummary of(Found found) {
        String pack = BoardWriter.printable(found.pack().description().id());
        String name = BoardWriter.printable(found.entry().name());
        try {
            Device device = Device.of(found.entry());
            Map.Entry<String, Map<String, String>> first = DeviceBoard.firstCore(device);
            CoreTarget target = CoreTarget.of(first.getValue(), device.name());
            MemoryPlan plan = new MemoryPlanner(device, first.getKey(), target, 0).plan();
            String cores = device.processors().values().stream()
                    .map(each -> BoardWriter.printable(each.getOrDefault("Dcore", "?")))
                    .collect(Collectors.joining(" + "));
            String clock = first.getValue().getOrDefault("Dclock", "");
            long ram = plan.regions().stream()
                    .filter(each -> !each.isRom())
                    .mapToLong(Region::size)
                    .sum();
            return new DeviceSummary(
                    name,
                    cores,
                    clock.matches("[1-9][0-9]{5,9}") ? Long.parseLong(clock) / MEGA + " MHz" : NONE,
                    BoardText.size(plan.region(plan.code()).size()),
                    BoardText.size(ram),
                    pack,
                    "");
        } catch (KilnException e) {
            return new DeviceSummary(
                    name, NONE, NONE, NONE, NONE, pack, e.problems().get(0).what());
        }
    }
}
