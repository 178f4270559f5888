// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.job;

/**
 * The result of a job.
 *
 * @param job its id
 * @param worker name of the worker
 * @param ranOn what ran the image, as reports name it
 * @param answer its outcome
 */
public record FarmResult(String job, String worker, String ranOn, FarmAnswer answer) {}
