// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.firmware.FirmwareProject;
import io.kiln.firmware.SourceUnit;
import io.kiln.firmware.image.Measurement;
import io.kiln.report.ImageReport;
import io.kiln.report.ImageReport.Licence;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What is in an image: its sections and symbols, and the licences of the sources that it was compiled from. */
final class ImageContent {
    private ImageContent() {}

    static ImageReport of(Measurement measured, FirmwareProject project) {
        return new ImageReport(
                measured.sections().stream()
                        .map(s -> new ImageReport.Section(s.name(), s.memory(), s.address(), s.bytes()))
                        .toList(),
                measured.largest().stream()
                        .map(item -> new ImageReport.Symbol(item.name(), item.bytes(), item.writable()))
                        .toList(),
                licences(project));
    }

    private static List<Licence> licences(FirmwareProject project) {
        Map<String, Map<String, Integer>> files = new TreeMap<>();
        for (SourceUnit unit : project.units()) {
            String part = unit.path().replaceFirst("/.*", "");
            files.computeIfAbsent(part, name -> new TreeMap<>())
                    .merge(SourceLicences.of(project.directory().resolve(unit.path())), 1, Integer::sum);
        }
        List<Licence> licences = new ArrayList<>();
        files.forEach(
                (part, found) -> found.forEach((licence, count) -> licences.add(new Licence(part, licence, count))));
        return licences;
    }
}
