// SPDX-License-Identifier: Apache-2.0
/** The jobs of a farm and their results: data only, with a binary form that is read with bounds. */
package io.kiln.farm.job;
