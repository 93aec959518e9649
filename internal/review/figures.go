package review

import (
	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/geom"
)

// figure is how one task is shown: which part of the radiograph, and what is drawn on it.
// Both work with what there is; a task that stopped early shows what it found.
type figure struct {
	part func(in *chexstruct.Input, f *chexstruct.Finding) geom.Box
	draw func(k *sketch, f *chexstruct.Finding)
}

var figures = map[chexstruct.Task]figure{
	chexstruct.Inclusion:                  {all, drawInclusion},
	chexstruct.Inspiration:                {rightChest, drawInspiration},
	chexstruct.Rotation:                   {clavicles, drawRotation},
	chexstruct.Projection:                 {all, drawProjection},
	chexstruct.Cardiomegaly:               {all, drawCardiomegaly},
	chexstruct.MediastinalWidening:        {all, drawMediastinum},
	chexstruct.CarinaAngle:                {carina, drawCarina},
	chexstruct.TracheaDeviation:           {airway, drawTrachea},
	chexstruct.AorticKnobEnlargement:      {arch, drawKnob},
	chexstruct.AscendingAortaEnlargement:  {ascending, drawAscending},
	chexstruct.DescendingAortaTortuous:    {descending, drawTortuous},
	chexstruct.DescendingAortaEnlargement: {descendingAndTrachea, drawDescending},
}

func all(in *chexstruct.Input, _ *chexstruct.Finding) geom.Box { return whole(in) }

func rightChest(in *chexstruct.Input, _ *chexstruct.Finding) geom.Box {
	return closeUp(in, 0.06, nil, anatomy.RightLung, anatomy.RightHemidiaphragm)
}

func clavicles(in *chexstruct.Input, f *chexstruct.Finding) geom.Box {
	right, okR := at(f, "medial_end_right")
	left, okL := at(f, "medial_end_left")
	if !okR || !okL {
		return closeUp(in, 0.08, nil, anatomy.RightClavicle, anatomy.LeftClavicle)
	}
	// Room for the clavicles beside their ends: as much as the ends lie apart, or a tenth
	// of the picture.
	room := max(left.X-right.X, float64(in.Masks.GridW)/10)
	return closeUp(in, 0.04, append(marks(f, "midline"), geom.Vec{X: right.X - room, Y: right.Y}, geom.Vec{X: left.X + room, Y: left.Y}))
}

func carina(in *chexstruct.Input, _ *chexstruct.Finding) geom.Box {
	return closeUp(in, 0.2, nil, anatomy.TrachealBifurcation)
}

func airway(in *chexstruct.Input, f *chexstruct.Finding) geom.Box {
	return closeUp(in, 0.12, append(marks(f, "vertebrae"), marks(f, "midline")...), anatomy.Trachea)
}

func arch(in *chexstruct.Input, f *chexstruct.Finding) geom.Box {
	return closeUp(in, 0.12, nil, anatomy.AorticArch, anatomy.Trachea)
}

func ascending(in *chexstruct.Input, f *chexstruct.Finding) geom.Box {
	var line []geom.Vec
	for _, name := range []string{"heart_point", "trachea_point"} {
		if p, ok := at(f, name); ok {
			line = append(line, p)
		}
	}
	return closeUp(in, 0.12, line, anatomy.AscendingAorta)
}

func descending(in *chexstruct.Input, f *chexstruct.Finding) geom.Box {
	return closeUp(in, 0.12, positions(f, "points"), anatomy.DescendingAorta)
}

func descendingAndTrachea(in *chexstruct.Input, f *chexstruct.Finding) geom.Box {
	return closeUp(in, 0.08, marks(f, "trachea_width"), anatomy.DescendingAorta, anatomy.Trachea)
}
