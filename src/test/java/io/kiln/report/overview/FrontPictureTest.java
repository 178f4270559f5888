// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.report.FrontReport;
import io.kiln.report.FrontReport.Image;
import io.kiln.report.FrontReport.Way;
import io.kiln.report.overview.FrontPicture.Dot;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class FrontPictureTest {
    private static Image image(String title, long cycles, long flash, long ram, boolean fits, boolean isTaken) {
        boolean isUnbeaten = !title.equals("beaten");
        return new Image(
                title, cycles, flash, ram, fits, isUnbeaten, isTaken, new Way("speed", "speed", new TreeMap<>()));
    }

    private static final FrontReport FRONT = new FrontReport(
            "board",
            FrontReport.BOARD_CYCLES,
            3000L,
            null,
            List.of(
                    image("fast", 1000, 4000, 600, false, false),
                    image("taken", 1500, 3000, 500, true, true),
                    image("beaten", 1600, 3500, 700, true, false),
                    image("small", 3000, 2000, 400, true, false)));

    @Test
    void smallImagesAreToTheLeftAndFastOnesAtTheBottom() {
        FrontPicture flash = FrontPicture.of(FRONT).get(0);
        assertThat(flash.memory()).isEqualTo("flash");
        assertThat(flash.dots()).extracting(Dot::style).containsExactly("large", "taken", "beaten", "unbeaten");
        List<Double> x = flash.dots().stream().map(Dot::x).toList();
        List<Double> y = flash.dots().stream().map(Dot::y).toList();
        assertThat(x.get(3)).isLessThan(x.get(1));
        assertThat(x.get(1)).isLessThan(x.get(0));
        assertThat(y).isSortedAccordingTo((a, b) -> Double.compare(b, a));
        for (FrontPicture picture : FrontPicture.of(FRONT)) {
            assertThat(picture.dots()).allSatisfy(dot -> {
                assertThat(dot.x()).isBetween((double) dot.radius(), FrontPicture.WIDTH - (double) dot.radius());
                assertThat(dot.y()).isBetween((double) dot.radius(), FrontPicture.HEIGHT - (double) dot.radius());
            });
        }
        assertThat(FrontPicture.of(FRONT).get(1).least()).isEqualTo(400);
    }

    @Test
    void theTableHasWhatNothingBeatsAndWhatWasTaken() {
        assertThat(FRONT.shown()).extracting(Image::title).containsExactly("fast", "taken", "small");
        assertThat(FRONT.lines())
                .hasSize(4)
                .anyMatch(line -> line.endsWith("fast, does not fit"))
                .anyMatch(line -> line.endsWith("taken, taken"));
    }
}
