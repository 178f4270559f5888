// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.firmware.image.Measurement;
import io.kiln.flow.fit.FitRun.FitImage;
import io.kiln.flow.fit.FitRun.FitImages;
import io.kiln.flow.fit.FitRun.FitWay;
import io.kiln.flow.verify.ProfileStep.ImageProfile;
import io.kiln.report.ProfileReport;
import io.kiln.schedule.LayerGoal;
import io.kiln.tuning.fit.FitSearch.FitLimits;
import io.kiln.tuning.fit.FitTable.FitCost;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Which images are measured and taken, with images whose costs are known. */
class FitRunTest {
    private static final int LAYERS = 5;

    /**
     * A program of five layers of 1,000 to 5,000 cycles. Small layers take half as much time more and share a kernel of 300 bytes; fast ones have 400 bytes of
     * their own. Without rows everything is a tenth faster, with 2,000 bytes of RAM more.
     */
    private static final class KnownImages implements FitImages {
        private final Map<FitWay, FitImage> images = new LinkedHashMap<>();
        private final long gap;
        private final long most;

        /**
         * @param gap bytes between layers of different goals, of which no table knows
         * @param most bytes of flash of the largest image that runs
         */
        KnownImages(long gap, long most) {
            this.gap = gap;
            this.most = most;
        }

        @Override
        public Map<FitWay, FitImage> all() {
            return images;
        }

        @Override
        public Optional<FitImage> measured(FitWay way) {
            FitImage image = made(way);
            if (image.memory().flash().total() > most) {
                return Optional.empty();
            }
            images.put(way, image);
            return Optional.of(image);
        }

        private FitImage made(FitWay way) {
            boolean isWhole = way.parts().plan() == Optimize.SIZE;
            Map<String, SortedMap<String, Long>> parts = new HashMap<>();
            List<ProfileReport.Operator> operators = new java.util.ArrayList<>();
            Set<Boolean> goals = new TreeSet<>();
            for (int i = 1; i <= LAYERS; i++) {
                String name = "layer" + i;
                LayerGoal goal = way.parts().layers().getOrDefault(name, LayerGoal.of(way.code()));
                boolean isSmall = goal == LayerGoal.SIZE;
                goals.add(isSmall);
                long cycles = 1000L * i * (isSmall ? 3 : 2) / 2 * (isWhole ? 9 : 10) / 10;
                operators.add(new ProfileReport.Operator(name, List.of(), cycles));
                SortedMap<String, Long> own = new TreeMap<>(Map.of(name, isSmall ? 50L : 400L));
                if (isSmall) {
                    own.put("shared", 300L);
                }
                parts.put(name, own);
            }
            long flash = parts.values().stream()
                            .flatMap(own -> own.entrySet().stream())
                            .distinct()
                            .mapToLong(Map.Entry::getValue)
                            .sum()
                    + (goals.size() > 1 ? gap : 0)
                    + (way.code() == Optimize.SIZE ? 900 : 1000);
            long total = operators.stream()
                            .mapToLong(ProfileReport.Operator::instructions)
                            .sum()
                    + (way.code() == Optimize.SIZE ? 500 : 100);
            Measurement memory = new Measurement(
                    new Measurement.Flash(flash, 0, 0, OptionalLong.empty()),
                    new Measurement.Ram(0, 0, 0, isWhole ? 3000 : 1000, 0, 0, OptionalLong.empty()),
                    List.of(),
                    List.of(),
                    List.of());
            return new FitImage(
                    memory,
                    new ImageProfile(total, 0, operators, Optional.empty()),
                    parts,
                    Set.of("shared"),
                    Collections.emptyMap());
        }
    }

    private static FitLimits limits(long flash, long ram) {
        return new FitLimits(OptionalLong.of(flash), OptionalLong.of(ram));
    }

    @Test
    void threeImagesSufficeIfTheFastestFits() {
        KnownImages images = new KnownImages(0, 9999);
        FitWay fastest = new FitRun(Log.QUIET, images, FitLimits.NONE).fastest().orElseThrow();
        assertThat(fastest.parts().plan()).isEqualTo(Optimize.SIZE);
        assertThat(images.all().get(fastest).cost()).isEqualTo(new FitCost(13_600, 3000, 3000));
        assertThat(images.all()).hasSize(3);
    }

    @Test
    void aLimitOfRamTakesAnotherPlan() {
        KnownImages images = new KnownImages(0, 9999);
        FitWay fastest =
                new FitRun(Log.QUIET, images, limits(3000, 2000)).fastest().orElseThrow();
        assertThat(images.all().get(fastest).cost()).isEqualTo(new FitCost(15_100, 3000, 1000));
    }

    /** The three fastest layers become small: they cost least, and pay for the kernel together. */
    @Test
    void aLimitOfFlashMakesTheCheapestLayersSmall() {
        KnownImages images = new KnownImages(0, 9999);
        FitWay fastest =
                new FitRun(Log.QUIET, images, limits(2300, 5000)).fastest().orElseThrow();
        assertThat(images.all().get(fastest).cost()).isEqualTo(new FitCost(13_600 + 450 * (1 + 2 + 3), 2250, 3000));
        assertThat(fastest.parts().layers())
                .containsEntry("layer3", LayerGoal.SIZE)
                .containsEntry("layer4", LayerGoal.SPEED);
    }

    /** What is measured counts: a mix that is larger than its table says gives way to one whose code is for size. */
    @Test
    void aMixThatIsLargerThanPromisedIsNotTaken() {
        KnownImages images = new KnownImages(100, 9999);
        FitWay fastest =
                new FitRun(Log.QUIET, images, limits(2300, 5000)).fastest().orElseThrow();
        FitCost cost = images.all().get(fastest).cost();
        assertThat(cost.flash()).isLessThanOrEqualTo(2300);
        assertThat(cost.cycles()).isEqualTo(13_600 + 450 * (1 + 2 + 3) + 400);
    }

    /** Images that no emulator can hold tell nothing; the others are mixed. */
    @Test
    void imagesThatAreTooLargeToRunAreLeftOut() {
        KnownImages images = new KnownImages(0, 2300);
        FitWay fastest =
                new FitRun(Log.QUIET, images, limits(2300, 5000)).fastest().orElseThrow();
        assertThat(images.all().get(fastest).cost().flash()).isLessThanOrEqualTo(2300);
        assertThat(new FitRun(Log.QUIET, new KnownImages(0, 100), FitLimits.NONE).fastest())
                .isEmpty();
    }

    @Test
    void nothingIsTakenThatDoesNotFit() {
        assertThat(new FitRun(Log.QUIET, new KnownImages(0, 9999), limits(1000, 5000)).fastest())
                .isEmpty();
    }

    @Test
    void aFrontHasMixesBetweenTheImagesOfOneGoal() {
        KnownImages images = new KnownImages(0, 9999);
        FitRun run = new FitRun(Log.QUIET, images, FitLimits.NONE);
        run.front();
        List<FitCost> costs = run.different().stream()
                .map(way -> images.all().get(way).cost())
                .toList();
        assertThat(costs).doesNotHaveDuplicates().isSortedAccordingTo((a, b) -> Long.compare(a.cycles(), b.cycles()));
        assertThat(FitCost.unbeaten(costs, cost -> cost)).hasSizeGreaterThan(6);
        assertThat(images.all().keySet())
                .anyMatch(way -> way.parts().layers().containsValue(LayerGoal.SIZE)
                        && way.parts().layers().containsValue(LayerGoal.SPEED));
    }
}
