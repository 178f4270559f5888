// SPDX-License-Identifier: Apache-2.0
/** What is tuned: the layers of a model as tasks, the knobs of their schedules as one space, and the choice by records. */
package io.kiln.tuning.task;
