// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import io.kiln.tuning.search.Tuner.SearchSpace;
import io.kiln.tuning.search.Tuner.Visited;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * AutoTVM's genetic search: a gene is the vector of knob values; parents are drawn by their scores, cut at one place, and each knob of a child
 * mutates with probability 0.1. The three best always stay parents. A population has 100 genes, in small spaces an eighth of the points.
 */
public final class GeneticTuner implements Tuner {
    private static final int POPULATION = 100;
    private static final int LEAST_POPULATION = 8;
    private static final int ELITE = 3;
    private static final double MUTATION = 0.1;
    private static final double LEAST_WEIGHT = 1e-8;
    private static final int MOST_ATTEMPTS = 1000;

    private record Scored(int point, double score) {}

    private final SearchSpace space;
    private final Visited visited;
    private final SplittableRandom random;
    private final int population;
    private final Deque<Integer> planned = new ArrayDeque<>();
    private final List<Scored> generation = new ArrayList<>();
    private List<Scored> elite = List.of();

    public GeneticTuner(SearchSpace space, long seed) {
        this.space = space;
        this.visited = new Visited(space.size());
        this.random = new SplittableRandom(seed);
        this.population = Math.min(POPULATION, Math.max(LEAST_POPULATION, space.size() / 8));
    }

    @Override
    public List<Integer> next(int most) {
        List<Integer> next = new ArrayList<>();
        while (next.size() < most) {
            if (planned.isEmpty()) {
                plan();
            }
            if (planned.isEmpty()) {
                break;
            }
            next.add(planned.poll());
        }
        return next;
    }

    @Override
    public void update(int point, double score) {
        visited.add(point);
        planned.remove(point);
        generation.add(new Scored(point, score));
    }

    /** Plans a generation. The first is random, and so are points that are missing when few are left. */
    private void plan() {
        if (generation.size() >= 2 && visited.left() > population) {
            breed();
        }
        while (planned.size() < population && visited.left() > 0) {
            plan(visited.random(random));
        }
    }

    private void plan(int point) {
        if (visited.add(point)) {
            planned.add(point);
        }
    }

    private void breed() {
        List<Scored> parents = new ArrayList<>(generation);
        parents.addAll(elite);
        elite = parents.stream()
                .sorted(Comparator.comparingDouble(Scored::score).reversed())
                .distinct()
                .limit(ELITE)
                .toList();
        generation.clear();
        for (int i = 0; i < MOST_ATTEMPTS && planned.size() < population; i++) {
            Scored one = draw(parents);
            Scored other = draw(parents);
            child(space.point(one.point), space.point(other.point)).ifPresent(this::plan);
        }
    }

    private Scored draw(List<Scored> parents) {
        double sum = parents.stream().mapToDouble(p -> p.score + LEAST_WEIGHT).sum();
        double at = random.nextDouble(sum);
        for (Scored parent : parents) {
            at -= parent.score + LEAST_WEIGHT;
            if (at < 0) {
                return parent;
            }
        }
        return parents.get(parents.size() - 1);
    }

    /** A child of two genes; empty if it is not a point of the space. */
    private Optional<Integer> child(List<Integer> one, List<Integer> other) {
        int cut = random.nextInt(one.size() + 1);
        List<Integer> gene = new ArrayList<>(one.subList(0, cut));
        gene.addAll(other.subList(cut, other.size()));
        for (int knob = 0; knob < gene.size(); knob++) {
            if (random.nextDouble() < MUTATION) {
                gene.set(knob, random.nextInt(space.dimensions().get(knob)));
            }
        }
        return space.find(gene);
    }
}
