// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.firmware.image.Measurement;
import io.kiln.report.BuildReport;
import java.util.List;

/** A measured image in the form that reports use. */
public final class MemoryReports {
    private MemoryReports() {}

    /** Use of read-only memory. */
    public static BuildReport.Flash flash(Measurement measured) {
        Measurement.Flash flash = measured.flash();
        return new BuildReport.Flash(
                flash.text(),
                flash.constants(),
                flash.data(),
                flash.total(),
                flash.available().orElse(0));
    }

    /** Use of writable memory. */
    public static BuildReport.Ram ram(Measurement measured) {
        Measurement.Ram ram = measured.ram();
        return new BuildReport.Ram(
                ram.data(),
                ram.bss(),
                ram.state(),
                ram.workspace(),
                ram.io(),
                ram.stack(),
                ram.total(),
                ram.available().orElse(0));
    }

    /** Use of each memory of the board. */
    public static List<BuildReport.MemoryUse> memories(Measurement measured) {
        return measured.regions().stream()
                .map(region ->
                        new BuildReport.MemoryUse(region.name(), region.used(), region.available(), region.targets()))
                .toList();
    }
}
